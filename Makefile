# SPDX-License-Identifier: GPL-2.0-or-later
# setup: everything that NetBoxIT needs, built and ready       demo: the emergency network carries a real call and a camera
# bench: measures this machine (about 25 minutes); `make bench BENCH="setup_a --pairs 9"` a part of it
# validate: measures every technology beside what is expected of it, and writes docs/validation.md (minutes)
# random: tries 10 000 random sets of parameters of each technology (five minutes on two cores)
# campaigns: runs the campaigns of campaigns/ and writes their reports into docs/campaigns/; `make campaigns CAMPAIGNS=campaigns/rain.yaml`
# reproduce: what others published, done again: `make reproduce STUDY=queues`, `STUDY=management` or `STUDY=services`, FULL=1 for all repetitions (docs/reproductions.md)
# e4, e5, e6: experiments of the thesis, ours beside its figures; `make e6 EXPERIMENT=--document` writes docs/experiments.md
# kill-test: kills netboxit before each of its system calls and looks for what is left (a quarter of an hour on two quiet cores)
# kill-campaign: kills a campaign of 20 labs five times and compares its runs with those of one left alone (ten minutes)
# full-disk-test: has the disk be full, or fail, at each call of netboxit that it could refuse (minutes)
# fuzz: sends ten million hostile frames into every port of every kind of node (nine minutes on two busy cores); `make fuzz FRAMES=100000`
# soak: ten minutes of a lab with everything going on: does anything that its processes hold grow? `make soak MINUTES=60`
# test: what everybody runs, 16 minutes on two cores       test-long: the tests that take longer, as root
# fresh-test: runs demo and test on a new Debian 12 without anything, made by mmdebstrap (docs/architecture.md), as root
# fresh-package: does there what README says of a package that pip installs, as root
# guest-test: boots Debian 12 as users have it in a virtual machine, and uses labs in it (tens of minutes); as root
# install: has `netboxit`, and its manual page, on everybody's PATH, from this checkout (`make install PREFIX=~/.local`: on yours);
# uninstall takes them away
# lint: style and types       clean: what was built       distclean: the virtual environment too

TOPOLOGY ?= topologies/emergency.yaml
DURATION ?= 60 s
CAMPAIGNS ?= $(wildcard campaigns/*.yaml)
PREFIX ?= /usr/local

# Containers see /usr and this checkout, not a Python of somebody's home.
PYTHON := /usr/bin/python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check --quiet
STAMPS := build/stamps
# It stands for all of its folder, which is made at once. The file itself: a copy of a checkout may leave large files out.
GUEST := build/guest/root.ext4
# Which tests may have what labs leave of the cores.
BESIDE_LABS := $(if $(filter 0,$(shell id -u)),(not lab or patient) and not long,not lab and not long)
# Of the tests that are no labs: those of NetBoxIT as users have it, and those of its parts, which take about as long.
HALVES := test-whole test-parts
TESTED_whole := tests testbed
TESTED_parts = $(filter-out $(TESTED_whole),$(shell $(PYTHON) -c \
    'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["tool"]["pytest"]["ini_options"]["testpaths"])'))
# What these targets print comes a target at a time.
TOGETHER := $(MAKE) --no-print-directory --keep-going --output-sync=target
# Labs go first. But in a guest time passes also while it gets no processor, and what is tested there has deadlines of a minute.
IN_GUESTS := nice -n 5 $(VENV)/bin/pytest --durations=0

.DELETE_ON_ERROR:
.PHONY: setup demo bench campaigns reproduce e4 e5 e6 validate random kill-test kill-campaign full-disk-test fuzz soak fresh-test fresh-package
.PHONY: guest-test guest-labs guest-other-machines guest-surroundings guest-own-tests guest-own-labs guest-less-granted test test-labs $(HALVES) test-long long-labs sanitized
.PHONY: install uninstall lint clean distclean

setup: $(STAMPS)/compiled $(STAMPS)/ns3
	@test -f build/build.ninja || cmake -S . -B build -G Ninja
	@cmake --build build
	@# A command compiles no Python of its own, also where it may not write beside it.
	@$(VENV)/bin/python -m compileall -q netboxit.py contracts ownership system testbed applications results netboxes campaigns bench experiments reproductions
	@# What `sudo make setup` makes in a user's own checkout is the user's: `make test` without root writes to it.
	@test "$$(id -u)" != 0 || test "$$(stat -c %u .)" = 0 || chown -R --reference=. build $(VENV)

demo: setup
	@# Status 3 is a run that is degraded, and said so: on a small host that is what can be had.
	@./netboxit.py run $(TOPOLOGY) --duration "$(DURATION)" || { status=$$?; test $$status -eq 3 || exit $$status; }

bench: setup
	@./netboxit.py bench $(BENCH)

validate: setup
	@$(VENV)/bin/python -m netboxes.validation_page $(TECHNOLOGY)

random: setup
	@$(VENV)/bin/python -m netboxes.random_parameters $(TECHNOLOGY)

e4 e5 e6: setup
	@$(VENV)/bin/python -m experiments $@ $(EXPERIMENT)

kill-test: setup
	@$(VENV)/bin/python -m tests.kill_test $(MOMENTS)

kill-campaign: setup
	@$(VENV)/bin/python -m tests.kill_campaign $(KILLS)

full-disk-test: setup
	@$(VENV)/bin/python -m tests.disk_test $(TRIALS)

# The campaigns of the repository, and their reports in docs/; each goes on where it was ended.
campaigns: setup
	@set -e; for file in $(CAMPAIGNS); do \
	  name=$$(basename $$file .yaml); ./netboxit.py campaign $$file; \
	  mkdir -p docs/campaigns; cp results/campaigns/$$name/report.html docs/campaigns/$$name.html; \
	done

reproduce: setup
	@$(VENV)/bin/python -m reproductions $(STUDY) $(if $(FULL),--full) $(REPRODUCE)

fuzz: setup
	@$(VENV)/bin/python -m tests.fuzz $(FRAMES)

soak: setup
	@$(VENV)/bin/python -m tests.soak $(MINUTES)

# Two sessions at a time: one guest keeps one core busy. A session boots once for all of its files that take a machine as it is.
# Here are all of them. `make test-long` has what people do with labs, and our own tests of the system: continuous integration has no time for more.
guest-test: setup
	@$(TOGETHER) --jobs=2 guest-labs guest-surroundings guest-own-tests guest-ended guest-less-granted guest-own-labs guest-other-machines

guest-labs: $(GUEST)
	$(IN_GUESTS) tests/guest/test_labs.py -k "not alone and not v1"

# Two other machines: with cgroup v1 and no AppArmor (those that develop this are such ones, so that all other tests run there), and with
# AppArmor's kernel part alone and no memory controller.
guest-other-machines: $(GUEST)
	$(IN_GUESTS) tests/guest/test_labs.py -k "alone or v1"

guest-surroundings: $(GUEST)
	$(IN_GUESTS) tests/guest/test_surroundings.py

# Commands that are killed, and power that is cut.
guest-ended: $(GUEST)
	$(IN_GUESTS) tests/guest/test_crashes.py tests/guest/test_power.py

guest-own-tests: $(GUEST)
	$(IN_GUESTS) tests/guest/test_own_tests.py tests/guest/test_sealed_tunnels.py tests/guest/test_kernel_queues.py -k "not own_labs"

guest-own-labs: $(GUEST)
	$(IN_GUESTS) tests/guest/test_own_tests.py -k own_labs

guest-less-granted: $(GUEST)
	$(IN_GUESTS) tests/guest/test_less_granted.py

fresh-test: setup
	@$(VENV)/bin/python -m tests.fresh_machine

# README's own words, without `sudo`: root calls them, on a machine that may not have it yet.
fresh-package: setup
	@$(VENV)/bin/python -m tests.fresh_machine \
	    "set -ex; echo 'APT::Get::Assume-Yes \"1\";' >/etc/apt/apt.conf.d/yes; export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; \
	    $$(sed -n '/apt-get install pipx/,/netboxit run/s/^ *sudo //p' README.md) || test \$$? = 3"

test: setup
	ctest --test-dir build --output-on-failure --parallel 2
	@# Labs mostly wait, for real time to pass; meanwhile everything else, in two halves, has what they leave of the cores.
	@if [ "$$(id -u)" = 0 ]; then $(MAKE) --no-print-directory --jobs=3 --keep-going test-labs $(HALVES); \
	else echo "not root: tests that build labs are left out"; $(MAKE) --no-print-directory --jobs=2 --keep-going $(HALVES); fi

test-labs:
	$(VENV)/bin/pytest --durations=40 -m "lab and not patient and not long"

# What failed is told when all of a half are through; the other tests' words come in between.
test-whole test-parts: test-%:
	@nice -n 19 $(VENV)/bin/pytest -q --durations=60 -m "$(BESIDE_LABS)" $(TESTED_$*) >build/test-$*.log 2>&1 || { cat build/test-$*.log; exit 1; }
	@tail -n 1 build/test-$*.log

# Labs wait half of their time; guests, two at a time, have what they leave of the cores. The longest begin. The guests' disk is made
# beside labs, too.
test-long: setup
	@$(TOGETHER) --jobs=3 long-labs sanitized guest-labs guest-own-tests

long-labs:
	$(VENV)/bin/pytest -m long --ignore tests/guest --timeout 1800 --durations=0

# Tests of C++ that are compiled once more, with what finds wrong uses of memory.
sanitized: setup
	@nice -n 19 cmake --build build --target multiservice-link-sanitized-test
	@nice -n 19 build/bin/multiservice-link-sanitized-test --gtest_brief=1

COMMAND = $(PREFIX)/bin/netboxit
PAGE = $(PREFIX)/share/man/man1/netboxit.1

install: setup
	@if [ -e "$(COMMAND)" ] || [ -L "$(COMMAND)" ]; then case "$$(readlink "$(COMMAND)")" in */netboxit.py) ;; *) \
	    echo "make install: $(COMMAND) is there and is not NetBoxIT's; give another PREFIX, or remove it" >&2; exit 1;; esac; fi
	@mkdir -p "$(dir $(COMMAND))" "$(dir $(PAGE))"
	@./netboxit.py manual >"$(PAGE)"
	@ln -sfn "$(CURDIR)/netboxit.py" "$(COMMAND)"
	@test "$$(id -u)" != 0 || test "$$(stat -c %u .)" = 0 || \
	    echo "note: $(CURDIR) is $$(stat -c %U .)'s, who can change what root calls by the name netboxit"
	@echo "$(COMMAND) is $(CURDIR)/netboxit.py; \`netboxit --install-completion\` completes its words in your shell"

uninstall:
	@if [ "$$(readlink "$(COMMAND)")" = "$(CURDIR)/netboxit.py" ]; then rm -f "$(COMMAND)" "$(PAGE)"; \
	else echo "make uninstall: $(COMMAND) is not that of $(CURDIR)" >&2; exit 1; fi

lint: $(STAMPS)/python
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy contracts ownership system testbed applications results netboxes campaigns bench experiments reproductions requirements/dependencies.py netboxit.py

clean:
	rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

distclean: clean
	rm -rf $(VENV)

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import ensurepip, apt' 2>/dev/null || \
	if [ "$$(id -u)" = 0 ]; then \
	    export DEBIAN_FRONTEND=noninteractive; packages="python3-venv python3-apt"; \
	    apt-get install -qq -y --no-install-recommends $$packages >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -qq -y --no-install-recommends $$packages >/dev/null; }; \
	else \
	    echo "make setup: python3-venv and python3-apt are missing: run 'sudo make setup'" >&2; exit 1; \
	fi
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/python: requirements/python.txt requirements/tools.txt requirements/old-processor.txt $(VENV)/bin/pip
	$(PIP) install -r requirements/python.txt -r requirements/tools.txt
	@grep -qw avx2 /proc/cpuinfo || { set -x; $(PIP) install -r requirements/old-processor.txt; }
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/host: ansible/host.yml $(wildcard ansible/roles/packages/*/*) $(STAMPS)/python
	$(VENV)/bin/python netboxit.py setup
	@touch $@

$(STAMPS)/compiled: requirements/compiled.txt $(STAMPS)/host
	$(PIP) install -r $<
	@touch $@

# The disk, the kernel and the modules of the guests that tests boot (tests/guest/), of Debian's packages. It has the files of
# many users, which root alone can make; tests that need it are left out where the user is not root.
$(GUEST): tests/guest/disks.py requirements/old-processor.txt $(STAMPS)/host
	@if [ "$$(id -u)" = 0 ]; then $(VENV)/bin/python -m tests.guest.disks; fi

# Without its own dependencies: they are for its Python bindings, which are not used.
$(STAMPS)/ns3: requirements/ns3.txt $(STAMPS)/python
	$(PIP) install --no-deps -r $<
	@touch $@
