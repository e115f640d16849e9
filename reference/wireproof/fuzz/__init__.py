"""Fuzzing: generate inputs, find what a codec gets wrong, shrink it, and keep it as a fixture.

See `architecture.md`, section "fuzzing". The way of one input through `wireproof fuzz`, module by module:

    campaign            starts the worker processes, and stops those that take too long
    supervisor          one worker process: gives each format its turns (`worker_config`, `format_session`),
                        forks a fuzzing process, watches it, and replaces it when it ends
    libfuzzer           the fuzzing process: libFuzzer, through atheris; its `Mutator` makes the input, with a
                        copy of the mutators that is not instrumented
    target              checks the input, of which `derive.examples` has made cases, and the relations that
                        must hold for the reference alone:
      executors           ask the adapter, in this process or in a process of its own; keep a copy of the
                          input that survives the process
      findings            keep the smallest input of each signature, and count it

If the process hangs or dies, `CpuTimer` and `HangDetector` decide when to stop it, and the supervisor runs
the input again. `corpus` has the inputs, the layout of the files and the statistics. `rejudge` judges the
findings of earlier campaigns again and shrinks the new ones; `known_ways` are those of a baseline.

Findings become fixtures through `shrink`, `redaction_check` and `promote`. `property_run` judges and shrinks
the generated examples of `check`. `mutator_process` gives the mutations to fuzzers of other people.
"""
