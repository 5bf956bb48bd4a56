# The gateway in an image that holds one static binary and nothing else, or, with `--target node`, one
# that can start servers written for Node and Python too.
#
#   docker build --build-arg GATEFOLD_COMMIT="$(git rev-parse HEAD)" -t gatefold .
#   docker build -t gatefold:node --target node .
#   docker run --rm -p 127.0.0.1:8420:8420 -v gatefold:/var/lib/gatefold \
#     -v ./gatefold.toml:/etc/gatefold/gatefold.toml:ro -e TICKETS_TOKEN gatefold
#
#   docker exec CONTAINER gatefold token create --name ann --for ann
#
# docs/install.md says what to know about addresses, tokens and secrets.

ARG RUST_VERSION=1.95
ARG NODE_VERSION=22

FROM rust:${RUST_VERSION}-bookworm AS build
WORKDIR /source
COPY . .
# The repository is not in the context: `gatefold --version` names the commit that is given here.
ARG GATEFOLD_COMMIT
RUN packaging/binary --static /build/gatefold && mkdir -p /build/state


FROM node:${NODE_VERSION}-bookworm-slim AS node
# `npx` is here already; `uvx` brings Python servers and the Python they need.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir 'uv==0.13.*' \
    && ln -s /opt/uv/bin/uv /opt/uv/bin/uvx /usr/local/bin/
COPY --from=build /build/gatefold /usr/bin/gatefold
COPY packaging/gatefold.toml /etc/gatefold/gatefold.toml
COPY --from=build --chown=65532:65532 /build/state /var/lib/gatefold
ENV GATEFOLD_STATE_DIR=/var/lib/gatefold \
    HOME=/var/lib/gatefold
WORKDIR /etc/gatefold
USER 65532:65532
VOLUME /var/lib/gatefold
EXPOSE 8420
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/gatefold"]
CMD ["serve", "--listen", "0.0.0.0:8420"]


FROM scratch AS gatefold
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="Gatefold" \
      org.opencontainers.image.description="Any number of MCP servers behind three small tools" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /build/gatefold /usr/bin/gatefold
# The roots that servers' certificates are checked against; the binary has none of its own.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY LICENSE-APACHE LICENSE-MIT docs/notices.md /usr/share/doc/gatefold/
COPY packaging/gatefold.toml /etc/gatefold/gatefold.toml
# A new volume takes its owner from here.
COPY --from=build --chown=65532:65532 /build/state /var/lib/gatefold
# There is no /tmp: what SQLite puts aside goes to the volume.
ENV GATEFOLD_STATE_DIR=/var/lib/gatefold \
    SQLITE_TMPDIR=/var/lib/gatefold
# The configuration is looked for in the working directory.
WORKDIR /etc/gatefold
USER 65532:65532
VOLUME /var/lib/gatefold
EXPOSE 8420
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/gatefold"]
CMD ["serve", "--listen", "0.0.0.0:8420"]
