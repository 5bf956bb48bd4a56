//! How fast a model opens and encodes, and the memory it takes: `cargo run --release -p
//! gatefold-encoder --example speed -- FOLDER [VECTORS]`, or `builtin` in place of the folder.
//! `VECTORS` is a JSON list of texts with the vectors that another runtime computed, to compare with.
//! A model takes as many cores as it may, at most two: `taskset -c 0` leaves it one.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement at the terminal")]

use std::time::{Duration, Instant};

use gatefold_encoder::{Model, ModelPlace, Vector};

const RUNS: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().expect("name the model's folder");
    let place = ModelPlace::named(&name).expect("a model has a name other than `none`");
    print_memory("before");
    let begun = Instant::now();
    let model = place.open().unwrap();
    println!("opened in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    let word = "list the open issues of a repository and close them all ";
    let begun = Instant::now();
    drop(model.encode(word, 25).unwrap());
    println!("first text in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    for tokens in [10, 25, 60, 128] {
        let text = word.repeat(tokens);
        let encode = || drop(model.encode(&text, tokens).unwrap());
        println!("{tokens:4} tokens: {:.2} ms", median_ms(encode));
    }
    print_memory("after");
    for when in ["at rest", "at rest again"] {
        model.encode(word, 25).unwrap();
        model.rest(Duration::ZERO);
        print_memory(when);
    }
    let vector = model.encode(word, 128).unwrap();
    let cache = vec![vector.quantize(); 10_000];
    let scan = || assert!(cache.iter().map(|passage| passage.cosine(&vector)).sum::<f32>() > 0.0);
    println!("10,000 cosines: {:.2} ms", median_ms(scan));
    if let Some(path) = arguments.next() {
        compare(&model, &std::fs::read_to_string(path).unwrap());
    }
}

/// The memory of this process in RAM, on Linux.
fn print_memory(when: &str) {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    if let Some(resident) = status.lines().find_map(|line| line.strip_prefix("VmRSS:")) {
        println!("memory {when}: {}", resident.trim());
    }
}

/// The median of many runs, after some to warm up.
fn median_ms(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn compare(model: &Model, vectors: &str) {
    let vectors: Vec<(String, Vec<f32>)> = serde_json::from_str(vectors).unwrap();
    let mut cosines: Vec<f32> = vectors
        .into_iter()
        .map(|(text, vector)| {
            let expected = Vector::unit(vector).unwrap();
            model.encode(&text, 256).unwrap().cosine(&expected)
        })
        .collect();
    cosines.sort_by(f32::total_cmp);
    let (least, median) = (cosines[0], cosines[cosines.len() / 2]);
    println!("{} vectors: median cosine {median:.5}, least {least:.5}", cosines.len());
}
