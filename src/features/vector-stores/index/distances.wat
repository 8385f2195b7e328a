;; Distances between a query and the vectors of a block; `vector-blocks.ts` describes the layout. A million vectors of 384
;; dimensions take 10 ms by bits.
;;
;; `npm run wasm` compiles it to distances-wasm.ts.

(module
  (memory (export "memory") 1)

  ;; Writes the Hamming distance of each of `count` vectors of `size` bytes, a multiple of 16, as 16-bit numbers.
  (func (export "hamming") (param $query i32) (param $vectors i32) (param $size i32) (param $count i32) (param $output i32)
    (local $at i32) (local $end i32) (local $last i32) (local $sum v128)
    (local.set $last (i32.add (local.get $output) (i32.shl (local.get $count) (i32.const 1))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $output) (local.get $last)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $at (local.get $query))
        (local.set $end (i32.add (local.get $query) (local.get $size)))
        (loop $part
          (local.set $sum
            (i16x8.add
              (local.get $sum)
              (i16x8.extadd_pairwise_i8x16_u
                (i8x16.popcnt (v128.xor (v128.load (local.get $at)) (v128.load (local.get $vectors)))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (local.set $vectors (i32.add (local.get $vectors) (i32.const 16)))
          (br_if $part (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $sum (i32x4.extadd_pairwise_i16x8_u (local.get $sum)))
        (i32.store16
          (local.get $output)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $output (i32.add (local.get $output) (i32.const 2)))
        (br $each))))

  ;; The scalar product of two vectors of `size` signed bytes, a multiple of 16.
  (func $dot (export "dot") (param $query i32) (param $vector i32) (param $size i32) (result i32)
    (local $end i32) (local $sum v128) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $query) (local.get $size)))
    (loop $part
      (local.set $a (v128.load (local.get $query)))
      (local.set $b (v128.load (local.get $vector)))
      (local.set $sum
        (i32x4.add
          (local.get $sum)
          (i32x4.add
            (i32x4.dot_i16x8_s
              (i16x8.extend_low_i8x16_s (local.get $a))
              (i16x8.extend_low_i8x16_s (local.get $b)))
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (local.get $a))
              (i16x8.extend_high_i8x16_s (local.get $b))))))
      (local.set $query (i32.add (local.get $query) (i32.const 16)))
      (local.set $vector (i32.add (local.get $vector) (i32.const 16)))
      (br_if $part (i32.lt_u (local.get $query) (local.get $end))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; Writes the scalar product of each of `count` vectors of `size` bytes as 32-bit numbers.
  (func (export "dots") (param $query i32) (param $vectors i32) (param $size i32) (param $count i32) (param $output i32)
    (local $last i32)
    (local.set $last (i32.add (local.get $output) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $output) (local.get $last)))
        (i32.store (local.get $output) (call $dot (local.get $query) (local.get $vectors) (local.get $size)))
        (local.set $vectors (i32.add (local.get $vectors) (local.get $size)))
        (local.set $output (i32.add (local.get $output) (i32.const 4)))
        (br $each)))))
