# The control plane: web, workers, clock, watcher and migration are this one image with different commands.
# Build from the root of the repository: docker build -f docker/server.Dockerfile -t safehold/server:VERSION .
# VERSION is the one of the chart, else name yours in `image.tag`.
FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md ./
COPY safehold safehold
COPY controlplane controlplane
COPY runs runs
COPY checkpoints checkpoints
COPY workers workers
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --constraint constraints.txt ".[server]" safetensors tokenizers

FROM build AS assets
COPY manage.py package.json package-lock.json .npmrc ./
COPY static static
COPY templates templates
ENV SAFEHOLD_SECRET_KEY=only-while-building SAFEHOLD_STATIC_ROOT=/build/staticfiles SAFEHOLD_HOME=/build/home
RUN /venv/bin/python -m controlplane.service.assets \
    && /venv/bin/python manage.py collectstatic --no-input

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=controlplane.settings SAFEHOLD_STATIC_ROOT=/app/staticfiles SAFEHOLD_HOME=/var/lib/safehold
RUN groupadd --gid 1000 safehold \
    && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /var/lib/safehold safehold \
    && install -d -o 1000 -g 1000 /var/lib/safehold
WORKDIR /app
COPY --from=build /venv /venv
COPY manage.py ./
COPY controlplane controlplane
COPY runs runs
COPY checkpoints checkpoints
COPY workers workers
COPY safehold safehold
COPY templates templates
COPY locale locale
COPY static static
COPY --from=assets /build/staticfiles staticfiles
USER 1000:1000
EXPOSE 8000
CMD ["python", "-m", "controlplane.service.web", "0.0.0.0", "8000"]
