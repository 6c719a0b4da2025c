use repscope_core::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&a[1]).unwrap();
    let hl = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let head = String::from_utf8_lossy(&bytes[10..hl]).to_string();
    let sh: Vec<usize> = head[head.find("'shape': (").unwrap() + 10..]
        .split(')')
        .next()
        .unwrap()
        .split(',')
        .filter_map(|x| x.trim().parse().ok())
        .collect();
    let v: Vec<f32> = bytes[hl..]
        .chunks_exact(4)
        .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let s = Space::from_f32("x", sh[0], sh[1], v).unwrap();
    for _ in 0..a.get(3).map_or(1, |v| v.parse().unwrap()) {
        let t = std::time::Instant::now();
        let (r, d) = nearest_neighbors(&s, a[2].parse().unwrap(), &run::Driver::silent(run::Order::Parallel)).unwrap();
        println!("{:?} {:.3}s {} {}", sh, t.elapsed().as_secs_f64(), r[0], d[99]);
    }
}
