# docker build -t newscrawl .   (or podman build, buildah bud --format docker); docs/operations.md
ARG PYTHON=docker.io/library/python:3.13-slim
FROM ${PYTHON} AS build
# It makes extraction faster. --build-arg COMPILER= leaves it out, and extraction runs in Python.
ARG COMPILER="gcc libc6-dev"
RUN if [ -n "$COMPILER" ]; then \
    apt-get update && apt-get install -y --no-install-recommends $COMPILER; fi
WORKDIR /src
COPY requirements.lock ./
RUN python3 -m venv /opt/newscrawl && \
    /opt/newscrawl/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml setup.py README.md LICENSE ./
COPY newscrawl newscrawl
COPY spiders spiders
COPY pipelines pipelines
RUN /opt/newscrawl/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${PYTHON}
COPY --from=build /opt/newscrawl /opt/newscrawl
ENV PATH=/opt/newscrawl/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --uid 10001 --home-dir /data --create-home newscrawl
USER newscrawl
WORKDIR /data
VOLUME /data
EXPOSE 8300
# Whether the database can be read; compose.yaml also asks for the dashboard and for workers.
HEALTHCHECK --interval=60s --timeout=30s --start-period=60s \
    CMD newscrawl metrics | grep -q '^newscrawl_up 1'
ENTRYPOINT ["newscrawl"]
CMD ["monitor", "--workers", "4"]
