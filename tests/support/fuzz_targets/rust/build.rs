//! Compiles the mutator of wireproof and links it whole: libFuzzer refers to its functions only weakly.
//! WIREPROOF_SEEDS is the folder that `wireproof export --seeds` has written.

fn main() {
    println!("cargo:rerun-if-env-changed=WIREPROOF_SEEDS");
    let seeds = std::env::var("WIREPROOF_SEEDS").expect("set WIREPROOF_SEEDS: `wireproof export --seeds DIR`");
    let source = format!("{seeds}/mutator/wireproof_mutator.c");
    println!("cargo:rerun-if-changed={source}");
    cc::Build::new().file(source).cargo_metadata(false).compile("wireproof_mutator");
    println!("cargo:rustc-link-search=native={}", std::env::var("OUT_DIR").expect("Cargo sets it"));
    println!("cargo:rustc-link-lib=static:+whole-archive=wireproof_mutator");
}
