"""Fuzzing: generate inputs, find what a codec gets wrong, shrink it, and keep it as a fixture.

See `architecture.md`, section "fuzzing". The way of one input through `wireproof fuzz`, module by module:

    campaign            starts the workers, and stops those that take too long; `work` is what they share:
                        what a worker does, the layout of the files, the statistics
    worker              one worker: gives each format its turns, forks a fuzzing process, watches it, and
                        replaces it when it ends; an input that ended one is run again, alone
    libfuzzer           makes the inputs, through atheris and with a copy of the mutators that is not
                        instrumented; and what is instrumented
    target              checks the input, of which `derive.examples` has made cases; for the reference alone,
                        the `relations` that must hold
    process             asks the adapter, in this process or in one of its own, and limits its time; keeps a
                        copy of the input that survives the process
    findings            keep the smallest input of each signature, and count it

`corpus` has the inputs. `rejudge` judges the findings of earlier campaigns again, shrinks the new ones, and
knows those of a baseline. `standalone` is a target without a worker.

Findings become fixtures through `shrink`, `redaction_check` and `promote`. `property_run` draws, judges and
shrinks the generated examples of `check`. `mutator_process` gives the mutations to fuzzers of other people.
"""
