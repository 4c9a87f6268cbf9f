"""The swarm, on fitness functions whose best place is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from newscrawl.training.pso import Generation, SwarmSettings, fly

TARGET = np.array([0.2, 0.7, 0.4])


def bowl(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Greatest (0) at TARGET."""
    return -((positions - TARGET) ** 2).sum(axis=1)


@pytest.mark.parametrize(
    "settings",
    [
        SwarmSettings(omega=0.4, largest_step=None),
        SwarmSettings(omega=0.4, tau=2.5, phi=1.5, largest_step=None),
        SwarmSettings(omega=0.9, largest_step=0.1, generations=300),
    ],
    ids=["equal", "cognition", "bounded"],
)
def test_swarm_finds_the_maximum(settings):
    flight = fly(bowl, 3, settings)
    assert flight.position == pytest.approx(TARGET, abs=0.02)


def test_equal_seeds_give_equal_runs():
    one, other = (fly(bowl, 3, SwarmSettings(seed=7)) for _ in range(2))
    assert one.position.tobytes() == other.position.tobytes()
    assert one.history == other.history


def test_step_equals_algorithm_1():
    """Two generations computed again by hand, with the same random numbers."""
    settings = SwarmSettings(
        particles=4, generations=2, tau=2.1, phi=1.8, omega=0.95, largest_step=None, seed=3
    )
    seen: list[NDArray[np.float64]] = []

    def watch(positions: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append(positions.copy())
        return bowl(positions)

    fly(watch, 3, settings)
    random = np.random.default_rng(3)
    p = random.random((4, 3))
    w, own, leader = np.zeros_like(p), p.copy(), p[bowl(p).argmax()]
    for positions in seen[1:]:
        r1, r2 = random.random((2, 4, 3))
        w = 0.95 * w + r1 * 2.1 * (own - p) + r2 * 1.8 * (leader - p)
        p = p + w
        for i in range(4):
            if bowl(p[i : i + 1]) > bowl(own[i : i + 1]):
                own[i] = p[i]
        leader = p[bowl(p).argmax()]
        assert positions == pytest.approx(p)


def test_history_has_best_and_mean_of_each_generation():
    told: list[Generation] = []
    flight = fly(bowl, 3, SwarmSettings(generations=20), told.append)
    assert [generation.number for generation in told] == list(range(21))
    assert tuple(told) == flight.history
    assert all(generation.best >= generation.mean for generation in told)
    so_far = [generation.best_so_far for generation in told]
    assert so_far == sorted(so_far)
    assert flight.fitness == so_far[-1] == max(generation.best for generation in told)
    assert bowl(flight.position[None])[0] == flight.fitness


def test_interrupt_keeps_the_best_position():
    def stop(generation: Generation) -> None:
        if generation.number == 5:
            raise KeyboardInterrupt

    flight = fly(bowl, 3, SwarmSettings(), stop)
    assert flight.interrupted
    assert len(flight.history) == 6
    assert bowl(flight.position[None])[0] == flight.fitness
