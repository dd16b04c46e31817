# For those who have a container engine: docker build --target agent . (or controller).
# The files are those of `npm run images`, which builds the same images without an engine, for both architectures and reproducibly (docs/images.md).
# Tried with buildah 1.28, with a local build image in the place of BUILD_IMAGE: the stages, and that the capabilities stay; not with Docker.
# The build stage runs on the machine's own processor; nothing of another architecture is executed.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm

FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
ARG TARGETARCH=amd64
# tar restores the file capabilities of the agent's Node, and COPY keeps them.
RUN for program in controller agent; do \
      npm run --silent images -- rootfs "$program" --arch "$TARGETARCH" > /rootfs.tar && \
      mkdir -p "/image/$program" && \
      tar --extract --file /rootfs.tar --directory "/image/$program" --xattrs --xattrs-include='security.capability' || exit 1; \
    done

FROM scratch AS controller
COPY --from=build /image/controller/ /
USER 65532:65532
ENV PATH=/usr/bin
EXPOSE 8080/tcp
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/node", "/app/node_modules/vmdhcp-controller/bin/vmdhcp-controller.js"]

FROM scratch AS agent
COPY --from=build /image/agent/ /
USER 65532:65532
ENV PATH=/usr/bin
EXPOSE 8080/tcp
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/node", "/app/node_modules/vmdhcp-agent/bin/vmdhcp-agent.js"]
