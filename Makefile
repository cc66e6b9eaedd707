# Wordline: every job of the project, one command each. CI runs the same targets (see .ci/run).
# Needs: git, make, a C compiler and a Rust toolchain; scripts/toolchain.sh says what is missing.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# A rustup that was installed a minute ago is not in PATH yet.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
# In CI the lock file is the truth; elsewhere cargo may update it after an edit of a Cargo.toml.
LOCKED := $(if $(CI),--locked,)

# A table at the end of a job says how long each step took.
STEP := scripts/step.sh

.PHONY: help demo test python notebook book check bench speed tables drives instructions soak faults tidy fmt clippy\
  doc unit release guided dist toolchain clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: toolchain ## Replay a real trace, then compare three garbage collection policies (out/demo)
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" scripts/demo.sh

test: toolchain ## Every test: units, timelines, formulas, random runs, the command line (ONLY=name)
	@$(STEP) tests $(CARGO) run --quiet --package xtask $(LOCKED) -- test $(ONLY) $(if $(BUT),$(UNITS:%=--but %))
	@$(STEP) examples $(CARGO) test --quiet --workspace --doc $(LOCKED)
	@$(if $(ONLY),,$(STEP) python scripts/python.sh test)

python: toolchain ## Build the Python package into target/python, an environment of its own (needs python3-venv)
	@scripts/python.sh build

notebook: toolchain ## Open the notebooks of the Python package (out/notebooks) in jupyter lab (needs python3-venv)
	@scripts/python.sh notebook $(ARGS)

check: toolchain ## Format, lints, tidy, documentation, unit tests
	@$(STEP) format $(MAKE) --no-print-directory fmt
	@$(STEP) lints $(MAKE) --no-print-directory clippy
	@$(STEP) tidy $(MAKE) --no-print-directory tidy
	@$(STEP) documentation $(MAKE) --no-print-directory doc
	@$(STEP) units $(MAKE) --no-print-directory unit

release: toolchain ## A release build: slower to build, faster to run (target/release/wordline)
	$(CARGO) build --release --package wordline $(LOCKED)

guided: toolchain ## A release build guided by a profile: faster still to run (target/guided/release/wordline)
	@scripts/guided.sh

dist: toolchain ## Build and check what is published: wheel, program, crates (in dist/; needs python3-venv, binutils)
	@scripts/dist.sh

soak: toolchain ## The long runs still to do for this commit: hours; resumes where it stopped (ONLY=name)
	@$(CARGO) run --quiet --package xtask $(LOCKED) -- soak $(ONLY)

faults: toolchain ## Put deliberate faults into a copy of the code: does a test fail? (ONLY=part of a name)
	@$(CARGO) run --quiet --package xtask $(LOCKED) -- faults $(ONLY)

# Without the lab's file formats, which are not measured and take longest to build.
BENCH := bench -p wordline-lab --no-default-features --bench drive $(LOCKED)

bench: toolchain ## Measure speed and memory; print a table, write benches/results/<commit>.json
	$(CARGO) $(BENCH)
	@scripts/python.sh bench

speed: toolchain ## Measure README's speed table anew and write it (benches/speed.json, README.md)
	$(CARGO) $(BENCH) -- --speed
	@$(MAKE) --no-print-directory tables

tables: toolchain ## Rewrite the tables of README, papers and docs from the files that hold their numbers
	$(CARGO) run --quiet --package xtask $(LOCKED) -- tables

drives: toolchain ## Fit the drives one can buy anew (data/drives): presets, benches/real/fits, docs/real-drives.md
	@scripts/drives.sh

instructions: toolchain ## Count what a request takes; above benches/instructions.txt fails (UPDATE=1 writes it)
	$(CARGO) $(BENCH) -- --instructions $(if $(UPDATE),--update)

# cargo fmt does not see the modules that family! declares, so every file is named.
fmt: toolchain ## Check the format of the code (fix with: rustfmt --edition 2024 FILE...)
	rustfmt --edition 2024 --check $$(git ls-files '*.rs')

clippy: toolchain ## Lints; warnings are errors
	$(CARGO) clippy --workspace --all-targets $(LOCKED) -- -D warnings

doc: toolchain ## The documentation of all crates; broken and private links are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps $(LOCKED)

tidy: toolchain ## The project's own rules: sizes, layers, families, purity of the core
	$(CARGO) run --quiet --package xtask $(LOCKED) -- tidy

# What `unit` runs, so that CI runs it once.
UNITS := /lib:: /wordline:: xtask::

unit: toolchain ## Unit tests only
	$(CARGO) run --quiet --package xtask $(LOCKED) -- test $(UNITS)

# mdBook is built once, below target/: minutes. Only this target needs it.
MDBOOK := target/mdbook/bin/mdbook

book: toolchain $(MDBOOK) ## The book as pages for a browser (target/book-html); its test is part of make test
	$(MDBOOK) build

$(MDBOOK):
	$(CARGO) install mdbook --version 0.5.4 --locked --no-default-features --root target/mdbook

toolchain:
	@scripts/toolchain.sh

clean: ## Remove build output and demo output
	rm -rf target out
