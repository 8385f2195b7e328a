;; Distances between a query and the vectors of a block; `vector-blocks.ts` describes the layout. A million vectors of 384
;; dimensions take 20 ms by codes.
;;
;; `npm run wasm` compiles it to distances-wasm.ts.

(module
  (memory (export "memory") 1)

  ;; Writes the sums of table entries for `groups` groups of 16 codes, as 16-bit numbers. A code has `size` bytes; those of
  ;; a group alternate. A byte selects one of 16 entries of its table by its low half, and one of the next 16 by its high
  ;; half. Entries are at most 127, so that two of them fit into a byte; a sum must be below 65,536.
  (func (export "scan") (param $table i32) (param $codes i32) (param $size i32) (param $groups i32) (param $output i32)
    (local $at i32) (local $end i32) (local $last i32) (local $code v128) (local $sum v128) (local $even v128) (local $odd v128)
    (local.set $end (i32.add (local.get $table) (i32.shl (local.get $size) (i32.const 5))))
    (local.set $last (i32.add (local.get $output) (i32.shl (local.get $groups) (i32.const 5))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $output) (local.get $last)))
        (local.set $even (v128.const i32x4 0 0 0 0))
        (local.set $odd (v128.const i32x4 0 0 0 0))
        (local.set $at (local.get $table))
        (loop $part
          (local.set $code (v128.load (local.get $codes)))
          (local.set $sum
            (i8x16.add
              (i8x16.swizzle
                (v128.load (local.get $at))
                (v128.and (local.get $code) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))
              (i8x16.swizzle
                (v128.load offset=16 (local.get $at))
                (i8x16.shr_u (local.get $code) (i32.const 4)))))
          ;; The sums of the odd bytes, times 256, are subtracted at the end, which costs less than clearing the bytes.
          (local.set $even (i16x8.add (local.get $even) (local.get $sum)))
          (local.set $odd (i16x8.add (local.get $odd) (i16x8.shr_u (local.get $sum) (i32.const 8))))
          (local.set $codes (i32.add (local.get $codes) (i32.const 16)))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (br_if $part (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $even (i16x8.sub (local.get $even) (i16x8.shl (local.get $odd) (i32.const 8))))
        (v128.store
          (local.get $output)
          (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $even) (local.get $odd)))
        (v128.store offset=16
          (local.get $output)
          (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $even) (local.get $odd)))
        (local.set $output (i32.add (local.get $output) (i32.const 32)))
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
