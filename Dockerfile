# The server's image, for production with a PostgreSQL of its own: docs/operate/image.md.
#   docker build -t bridgework-server:0.2.0 .
#   buildah build --timestamp "$(git log -1 --format=%ct)" -t bridgework-server:0.2.0 .     makes the same bytes each time
# Where it is built: a Debian with Node 20 or newer and npm 10 or newer. The server itself runs with the Node of package-lock.json.
ARG BUILD_BASE=docker.io/library/node:24-trixie-slim
# What the image adds to: the same Debian.
ARG BASE=docker.io/library/debian:trixie-slim

FROM ${BUILD_BASE} AS build
ARG SOURCE_DATE_EPOCH=0
# Node 26 needs this library, which a slim Debian does not have. The image gets the file alone, so that nothing is installed into it.
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1
WORKDIR /build
COPY . .
RUN node scripts/setup.mjs release && node_modules/.bin/node scripts/release/image-tree.ts /image \
    && cp --dereference --parents /usr/lib/*-linux-gnu/libatomic.so.1 /image

FROM ${BASE}
COPY --from=build /image/ /
# An account without rights, of which nothing in the image is. A number, because Kubernetes checks that it is not root's.
USER 10001:10001
WORKDIR /var/lib/bridgework
ENV BRIDGEWORK_ENVIRONMENT=production \
    BRIDGEWORK_HOST=0.0.0.0 \
    BRIDGEWORK_PORT=8080 \
    BRIDGEWORK_DATA_DIR=/var/lib/bridgework
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["bridgework-health"]
CMD ["bridgework-server"]
