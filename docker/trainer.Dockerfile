# The reference trainer and the library, on CUDA. Teams put the library into their own image the same way: the two
# COPY and the RUN behind them are all it takes. Build: docker build -f docker/trainer.Dockerfile -t safehold-trainer:VERSION .
# `safehold up` takes that name for a cluster of KUBECONFIG; another one: SAFEHOLD_TRAINER_IMAGE.
FROM python:3.11-slim
ARG TORCH=2.13.0
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN groupadd --gid 1000 trainer \
    && useradd --uid 1000 --gid 1000 --create-home trainer
RUN pip install --no-cache-dir "torch==${TORCH}"
WORKDIR /opt/safehold
COPY pyproject.toml README.md ./
COPY safehold safehold
RUN pip install --no-cache-dir ".[train]"
USER 1000:1000
WORKDIR /home/trainer
CMD ["python", "-m", "safehold.wrapper", "--help"]
