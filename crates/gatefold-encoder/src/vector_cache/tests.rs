use super::*;
use crate::Vector;

const DIMENSIONS: usize = 5;
const CAPACITY: usize = 8;

fn vector(number: usize) -> Arc<QuantizedVector> {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let values = (0..DIMENSIONS).map(|at| (number + at) as f32 - 3.5).collect();
    Arc::new(Vector::unit(values).unwrap().quantize())
}

fn key(number: usize) -> Key {
    passage_key(&number.to_string())
}

fn open_as(path: &Path, digest: &str) -> VectorCache {
    VectorCache::of(path, digest, DIMENSIONS, CAPACITY).unwrap()
}

fn open(path: &Path) -> VectorCache {
    open_as(path, "one")
}

/// A file with some vectors, in a folder that is removed when the first value is dropped.
fn filled(count: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below").join("cache");
    let mut cache = open(&path);
    for number in 0..count {
        cache.put(key(number), vector(number));
    }
    (folder, path)
}

/// Which of the first vectors are there, each as it was put.
fn held(cache: &VectorCache) -> Vec<usize> {
    let numbers = (0..2 * CAPACITY).filter(|&number| match cache.get(&key(number)) {
        Some(found) => {
            assert_eq!(found, vector(number));
            true
        }
        None => false,
    });
    numbers.collect()
}

/// What is left of a file with four vectors after `harm`, and whether it still takes new ones.
#[track_caller]
fn check(harm: impl Fn(&mut Vec<u8>), expected: &[usize]) {
    let (_folder, path) = filled(4);
    let mut content = std::fs::read(&path).unwrap();
    harm(&mut content);
    std::fs::write(&path, content).unwrap();
    let mut cache = open(&path);
    assert_eq!(held(&cache), expected);
    cache.put(key(9), vector(9));
    drop(cache);
    assert_eq!(held(&open(&path)), [expected, &[9]].concat());
}

const RECORD: usize = KEY_BYTES + SCALE_BYTES + DIMENSIONS + CHECKSUM_BYTES;

#[test]
fn a_cache_keeps_its_vectors() {
    check(|_| (), &[0, 1, 2, 3]);
}

#[test]
fn a_damaged_file_is_cut_at_its_first_bad_record() {
    check(|content| content.truncate(HEADER_BYTES + 3 * RECORD + 7), &[0, 1, 2]);
    check(|content| content[HEADER_BYTES + RECORD + 40] ^= 1, &[0]);
    check(|content| content[HEADER_BYTES + 5] ^= 1, &[]);
    check(|content| content.extend([7; 500]), &[0, 1, 2, 3]);
}

#[test]
fn a_file_of_another_kind_is_begun_anew() {
    check(|content| content[3] ^= 1, &[]);
    check(|content| content[9] ^= 1, &[]);
    check(|content| content[30] ^= 1, &[]);
    check(Vec::clear, &[]);
    check(|content| content.truncate(20), &[]);
}

#[test]
fn models_do_not_share_vectors() {
    let (_folder, path) = filled(2);
    assert_eq!(held(&open_as(&path, "two")), [] as [usize; 0]);
    assert_eq!(held(&open(&path)), [] as [usize; 0]);
}

#[test]
fn a_full_cache_loses_its_older_half_on_the_next_opening() {
    let (_folder, path) = filled(CAPACITY);
    let mut cache = open(&path);
    assert_eq!(held(&cache), [4, 5, 6, 7]);
    cache.put(key(8), vector(8));
    drop(cache);
    assert_eq!(held(&open(&path)), [4, 5, 6, 7, 8]);
}

#[test]
fn memory_and_file_hold_no_more_than_the_bound() {
    let (_folder, path) = filled(0);
    let mut cache = open(&path);
    for number in 0..2 * CAPACITY {
        cache.put(key(number), vector(number));
        assert!(cache.len() <= CAPACITY);
    }
    assert!(cache.get(&key(2 * CAPACITY - 1)).is_some());
    drop(cache);
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert_eq!(bytes, (HEADER_BYTES + CAPACITY * RECORD) as u64);
}

#[test]
fn the_second_process_reads_and_keeps_its_own_in_memory() {
    let (_folder, path) = filled(2);
    let mut first = open(&path);
    let mut second = open(&path);
    second.put(key(5), vector(5));
    first.put(key(3), vector(3));
    assert_eq!((held(&first), held(&second)), (vec![0, 1, 3], vec![0, 1, 5]));
    drop((first, second));
    assert_eq!(held(&open(&path)), [0, 1, 3]);
}

#[test]
fn a_vector_of_other_dimensions_is_not_kept() {
    let (_folder, path) = filled(0);
    let mut cache = open(&path);
    cache.put(key(0), Arc::new(Vector::unit(vec![1.0; 3]).unwrap().quantize()));
    assert!(cache.is_empty());
}
