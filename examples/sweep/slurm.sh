#!/bin/bash
# A sweep as an array of SLURM: `sbatch --array=1-4 slurm.sh grid.toml /shared/grid`. Each task does its part, in one
# folder that all machines see; the one that ends last writes the tables. A task that was killed may be sent again.
#SBATCH --job-name=wordline
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
set -euo pipefail
file=${1:?which sweep?}
out=${2:?which folder?}
exec "${WORDLINE:-wordline}" sweep "$file" -o "$out" \
    --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_COUNT:?is this an array?}" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}"
