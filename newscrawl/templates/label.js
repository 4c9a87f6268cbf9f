"use strict";
const boxes = [...document.querySelectorAll("input[name=kept]")];
const count = document.getElementById("count");
let last = 0;

function showCount() {
  const ticked = boxes.filter((box) => box.checked).length;
  count.textContent = `${ticked} of ${boxes.length} blocks ticked`;
}

function move(step) {
  const here = boxes.indexOf(document.activeElement);
  const next = boxes[Math.min(Math.max((here < 0 ? last - step : here) + step, 0), boxes.length - 1)];
  if (next) {
    last = boxes.indexOf(next);
    next.focus();
    next.scrollIntoView({ block: "center" });
  }
}

function tickAll(checked) {
  boxes.forEach((box) => { box.checked = checked; });
  showCount();
}

boxes.forEach((box, index) => {
  box.addEventListener("click", (event) => {
    if (event.shiftKey) {
      const [from, to] = [Math.min(last, index), Math.max(last, index)];
      boxes.slice(from, to + 1).forEach((each) => { each.checked = box.checked; });
    }
    last = index;
    showCount();
  });
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    document.querySelector("button[value=save]").click();
    return;
  }
  const typing = event.target.matches("input:not([type=checkbox])");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    a: () => tickAll(true), n: () => tickAll(false),
  };
  if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
});

showCount();
(boxes.find((box) => box.checked) || boxes[0])?.focus();
