"""Fuzzing: generate inputs, find what a codec gets wrong, shrink it, and keep it as a fixture.

See `architecture.md`, section "fuzzing". The way of one input through `wireproof fuzz`, module by module:

    campaign            starts the worker processes, and stops those that take too long
    worker              one worker process: gives each format its turns (`worker_config`, `format_session`)
    supervisor          forks a fuzzing process, watches it, and replaces it when it ends
    libfuzzer           the fuzzing process: libFuzzer, through atheris
    mutator             makes the input, with the `uninstrumented` copy of the mutators
    target              checks the input:
      shared_input        a copy of the input that survives the process
      case_builder        turns the bytes into cases, with one of the `option_variants`
      oracles             relations that must hold for the reference alone
      executors           ask the adapter, in this process or in a process of its own
      findings            keep the smallest input of each signature (`finding_counts`)

If the process hangs or dies, `cpu_timer` and `hang_detector` decide when to stop it, and `crash_repro` runs
the input again. `work_directory` has the layout of the files, `corpus` the inputs, `stats` the statistics.

Findings become fixtures through `shrink` (with `shrink_candidates`), `redaction_check`, `promote` and
`rule_proposal`. Two other verbs generate cases here without libFuzzer: `property_run` those of `check`,
`seeded_cases` those of `fuzz --spark`. `mutator_process` gives the mutations to fuzzers of other people.
"""
