# The hub in all roles, on the current LTS version of Node. Stage one compiles; stage two has only what runs.

FROM node:24-bookworm-slim AS build
WORKDIR /flotilla
COPY . .
# The build installs from the lock file (npm ci), generates code and compiles.
RUN node scripts/build.mjs product
RUN npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production
# Loopback would be reachable only inside the container. The published ports decide who reaches the hub.
ENV FLOTILLA_HOST=0.0.0.0
ENV FLOTILLA_DATA_DIR=/data
WORKDIR /flotilla
COPY --from=build /flotilla/package.json ./
COPY --from=build /flotilla/node_modules ./node_modules
COPY --from=build /flotilla/prisma ./prisma
COPY --from=build /flotilla/libs ./libs
COPY --from=build /flotilla/apps ./apps
RUN mkdir --mode=0700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080 1883 8883 8884/udp
# Uses HTTPS if the hub has a certificate.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["node", "apps/hub/dist/health-check.js"]
# docker stop drains the hub, and kills it after 10 s: use docker stop --time 90.
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=64", "apps/hub/dist/main.js"]
