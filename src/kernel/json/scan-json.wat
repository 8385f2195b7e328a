;; One pass over the bytes of a JSON text; `scan-json.ts` describes what it counts. Sixteen bytes of a string are compared
;; at a time: 400 KB of conversation take 0.1 ms instead of 0.4.
;;
;; `npm run wasm` compiles it to scan-json-wasm.ts.

(module
  (memory (export "memory") 1)

  ;; Results, as 32-bit numbers that follow one another.
  (global $KEY_COUNT i32 (i32.const 0))
  (global $IS_SUSPICIOUS i32 (i32.const 4))
  ;; Positions of the members of the outermost object: start and end of the key, start and end of the value.
  (global $MEMBER_NUMBERS i32 (i32.const 8))
  ;; 1: there were more members than fit.
  (global $HAS_LOST_MEMBERS i32 (i32.const 12))
  (global $OUTLINE_BYTES i32 (i32.const 16))
  (global $SHORTENED i32 (i32.const 20))
  ;; Bytes of text that the outline leaves out, without the backslashes of escapes.
  (global $HIDDEN_BYTES i32 (i32.const 24))
  ;; Number of keys of the open object at each depth.
  (global $KEYS_AT_DEPTH i32 (i32.const 64))
  (global $MEMBERS i32 (i32.const 1024))
  ;; For each byte, whether it may follow a backslash: "\/bfnrt.
  (global $IS_ESCAPE i32 (i32.const 640))
  (data (i32.const 674) "\01")
  (data (i32.const 687) "\01")
  (data (i32.const 732) "\01")
  (data (i32.const 738) "\01")
  (data (i32.const 742) "\01")
  (data (i32.const 750) "\01")
  (data (i32.const 754) "\01")
  (data (i32.const 756) "\01")
  (global $MAX_MEMBER_NUMBERS i32 (i32.const 40000))

  (global $MAX_DEPTH i32 (i32.const 128))
  (global $MAX_KEYS i32 (i32.const 10000))
  (global $MIN_SHORTENED i32 (i32.const 64))

  ;; What the last call of $string found.
  ;; Bytes by which escapes are longer than the UTF-8 that they stand for; 0 if the string has none.
  (global $escapeBytes (mut i32) (i32.const 0))
  ;; 1: a parser would refuse the string.
  (global $isInvalid (mut i32) (i32.const 0))

  ;; Value of a hexadecimal digit; 16 for any other byte.
  (func $hex (param $byte i32) (result i32)
    (local $digit i32)
    (local.set $digit (i32.sub (local.get $byte) (i32.const 0x30)))
    (if (i32.lt_u (local.get $digit) (i32.const 10)) (then (return (local.get $digit))))
    (local.set $digit (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)))
    (if (i32.lt_u (local.get $digit) (i32.const 6)) (then (return (i32.add (local.get $digit) (i32.const 10)))))
    (i32.const 16))

  ;; The UTF-16 unit of four digits; -1 if one is not a digit.
  (func $unit (param $at i32) (result i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local.set $a (call $hex (i32.load8_u (local.get $at))))
    (local.set $b (call $hex (i32.load8_u offset=1 (local.get $at))))
    (local.set $c (call $hex (i32.load8_u offset=2 (local.get $at))))
    (local.set $d (call $hex (i32.load8_u offset=3 (local.get $at))))
    (if (i32.gt_u
          (i32.or (i32.or (local.get $a) (local.get $b)) (i32.or (local.get $c) (local.get $d)))
          (i32.const 15))
      (then (return (i32.const -1))))
    (i32.or
      (i32.or (i32.shl (local.get $a) (i32.const 12)) (i32.shl (local.get $b) (i32.const 8)))
      (i32.or (i32.shl (local.get $c) (i32.const 4)) (local.get $d))))

  ;; Position of the quote that ends the string which begins at $at; $end if there is none.
  (func $string (param $at i32) (param $end i32) (result i32)
    (local $bytes v128) (local $mask i32) (local $byte i32) (local $unit i32)
    ;; Position after the last high surrogate.
    (local $pairAt i32)
    (local $escaped i32)
    (global.set $isInvalid (i32.const 0))
    (block $ended
      (loop $next
        (if (i32.le_u (i32.add (local.get $at) (i32.const 16)) (local.get $end))
          (then
            (local.set $bytes (v128.load (local.get $at)))
            (local.set $mask
              (i8x16.bitmask
                (v128.or
                  (v128.or
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                    (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
                  (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20))))))
            (if (i32.eqz (local.get $mask))
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $next)))
            (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $mask)))))
          (else
            (if (i32.ge_u (local.get $at) (local.get $end))
              (then
                (global.set $isInvalid (i32.const 1))
                (local.set $at (local.get $end))
                (br $ended)))))
        (local.set $byte (i32.load8_u (local.get $at)))
        (br_if $ended (i32.eq (local.get $byte) (i32.const 0x22)))
        (if (i32.ne (local.get $byte) (i32.const 0x5c))
          (then
            (if (i32.lt_u (local.get $byte) (i32.const 0x20)) (then (global.set $isInvalid (i32.const 1))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $next)))
        ;; An escape.
        (if (i32.ge_u (i32.add (local.get $at) (i32.const 1)) (local.get $end))
          (then
            (global.set $isInvalid (i32.const 1))
            (local.set $at (local.get $end))
            (br $ended)))
        (local.set $byte (i32.load8_u offset=1 (local.get $at)))
        (if (i32.load8_u (i32.add (global.get $IS_ESCAPE) (local.get $byte)))
          (then
            (local.set $escaped (i32.add (local.get $escaped) (i32.const 1)))
            (local.set $at (i32.add (local.get $at) (i32.const 2)))
            (br $next)))
        (local.set $unit (i32.const -1))
        (if (i32.and
              (i32.eq (local.get $byte) (i32.const 0x75))
              (i32.le_u (i32.add (local.get $at) (i32.const 6)) (local.get $end)))
          (then (local.set $unit (call $unit (i32.add (local.get $at) (i32.const 2))))))
        (if (i32.eq (local.get $unit) (i32.const -1))
          (then
            (global.set $isInvalid (i32.const 1))
            (local.set $escaped (i32.add (local.get $escaped) (i32.const 1)))
            (local.set $at (i32.add (local.get $at) (i32.const 2)))
            (br $next)))
        ;; Six bytes stand for one to three; half of a surrogate pair becomes U+FFFD, and both halves four bytes.
        (local.set $escaped
          (i32.add
            (i32.add (local.get $escaped) (i32.const 3))
            (i32.add
              (i32.lt_u (local.get $unit) (i32.const 0x80))
              (i32.lt_u (local.get $unit) (i32.const 0x800)))))
        (if (i32.and
              (i32.eq (i32.and (local.get $unit) (i32.const 0xfc00)) (i32.const 0xdc00))
              (i32.eq (local.get $pairAt) (local.get $at)))
          (then (local.set $escaped (i32.add (local.get $escaped) (i32.const 2)))))
        (local.set $at (i32.add (local.get $at) (i32.const 6)))
        (if (i32.eq (i32.and (local.get $unit) (i32.const 0xfc00)) (i32.const 0xd800))
          (then (local.set $pairAt (local.get $at))))
        (br $next)))
    (global.set $escapeBytes (local.get $escaped))
    (local.get $at))

  ;; Whether the text, which has at least $MIN_SHORTENED bytes, begins with something other than the scheme of an address:
  ;; white space, letters, digits and +.- are passed over, and neither a colon nor an unclear byte follows.
  (func $isPlainText (param $at i32) (result i32)
    (local $end i32) (local $byte i32) (local $second i32)
    (local.set $end (i32.add (local.get $at) (i32.sub (global.get $MIN_SHORTENED) (i32.const 2))))
    (block $begins
      (loop $space
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $second (i32.load8_u offset=1 (local.get $at)))
        (if (i32.eq (local.get $byte) (i32.const 0x20))
          (then (local.set $at (i32.add (local.get $at) (i32.const 1))))
          (else
            (br_if $begins (i32.ne (local.get $byte) (i32.const 0x5c)))
            (if (i32.eqz
                  (i32.or
                    (i32.or
                      (i32.eq (local.get $second) (i32.const 0x6e))
                      (i32.eq (local.get $second) (i32.const 0x72)))
                    (i32.eq (local.get $second) (i32.const 0x74))))
              ;; A quote or a backslash is not white space; \u and \f may be.
              (then
                (return
                  (i32.or
                    (i32.eq (local.get $second) (i32.const 0x22))
                    (i32.eq (local.get $second) (i32.const 0x5c))))))
            (local.set $at (i32.add (local.get $at) (i32.const 2)))))
        (br_if $space (i32.lt_u (local.get $at) (local.get $end))))
      (return (i32.const 0)))
    ;; White space beyond ASCII begins with these bytes; DEL is a control character.
    (if (i32.or
          (i32.or
            (i32.or
              (i32.eq (local.get $byte) (i32.const 0x7f))
              (i32.eq (local.get $byte) (i32.const 0xc2)))
            (i32.eq (local.get $byte) (i32.const 0xe1)))
          (i32.or
            (i32.or
              (i32.eq (local.get $byte) (i32.const 0xe2))
              (i32.eq (local.get $byte) (i32.const 0xef)))
            (i32.and
              (i32.eq (local.get $byte) (i32.const 0xe3))
              (i32.eq (local.get $second) (i32.const 0x80)))))
      (then (return (i32.const 0))))
    (loop $scheme
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const 0))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $scheme
        (i32.or
          (i32.or
            ;; Letters, whose case is one bit.
            (i32.lt_u
              (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61))
              (i32.const 26))
            (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10)))
          (i32.or
            (i32.eq (local.get $byte) (i32.const 0x2b))
            (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x2d)) (i32.const 2))))))
    ;; Regular expressions that ignore case take U+017F and U+212A for letters, too.
    (i32.and
      (i32.and
        (i32.ne (local.get $byte) (i32.const 0x3a))
        (i32.ne (local.get $byte) (i32.const 0x5c)))
      (i32.and
        (i32.ne (local.get $byte) (i32.const 0xc5))
        (i32.ne (local.get $byte) (i32.const 0xe2)))))

  ;; Whether the address, which has at least $MIN_SHORTENED bytes, begins with `data:`.
  (func $isDataUrl (param $at i32) (result i32)
    (i32.and
      (i32.eq (i32.or (i32.load (local.get $at)) (i32.const 0x20202020)) (i32.const 0x61746164))
      (i32.eq (i32.load8_u offset=4 (local.get $at)) (i32.const 0x3a))))

  ;; Which strings may be shortened that are the value of this key within `messages`: 0, none; 1, texts; 2, data URLs.
  (func $kindOf (param $depth i32) (param $imageDepth i32) (param $key i32) (param $length i32) (result i32)
    ;; messages[].content[].image_url.url
    (if (local.get $imageDepth)
      (then
        (if (i32.or
              (i32.or (i32.ne (local.get $depth) (i32.const 6)) (i32.ne (local.get $imageDepth) (i32.const 5)))
              (i32.ne (local.get $length) (i32.const 3)))
          (then (return (i32.const 0))))
        (return
          (i32.shl
            (i32.and
              (i32.eq (i32.load16_u (local.get $key)) (i32.const 0x7275))
              (i32.eq (i32.load8_u offset=2 (local.get $key)) (i32.const 0x6c)))
            (i32.const 1)))))
    ;; messages[].content
    (if (i32.and (i32.eq (local.get $depth) (i32.const 3)) (i32.eq (local.get $length) (i32.const 7)))
      (then
        (return
          (i32.and
            (i32.eq (i32.load (local.get $key)) (i32.const 0x746e6f63))
            (i32.eq (i32.load offset=3 (local.get $key)) (i32.const 0x746e6574))))))
    ;; messages[].content[].text
    (if (i32.and (i32.eq (local.get $depth) (i32.const 5)) (i32.eq (local.get $length) (i32.const 4)))
      (then (return (i32.eq (i32.load (local.get $key)) (i32.const 0x74786574)))))
    ;; messages[].tool_calls[].function.arguments
    (if (i32.and (i32.eq (local.get $depth) (i32.const 6)) (i32.eq (local.get $length) (i32.const 9)))
      (then
        (return
          (i32.and
            (i64.eq (i64.load (local.get $key)) (i64.const 0x746e656d75677261))
            (i32.eq (i32.load8_u offset=8 (local.get $key)) (i32.const 0x73))))))
    (i32.const 0))

  (func $isImageUrl (param $key i32) (param $length i32) (result i32)
    (if (i32.ne (local.get $length) (i32.const 9)) (then (return (i32.const 0))))
    (i32.and
      (i64.eq (i64.load (local.get $key)) (i64.const 0x72755f6567616d69))
      (i32.eq (i32.load8_u offset=8 (local.get $key)) (i32.const 0x6c))))

  ;; Whether a key may be `__proto__` or `constructor`. An escape takes six bytes, so that only keys of up to 66 can be.
  (func $mayPoison (param $key i32) (param $length i32) (param $hasEscape i32) (result i32)
    (if (i32.lt_u (local.get $length) (i32.const 9)) (then (return (i32.const 0))))
    (if (i32.eq (local.get $length) (i32.const 9))
      (then (return (i32.eq (i32.load8_u (local.get $key)) (i32.const 0x5f)))))
    (if (i32.and
          (i32.eq (local.get $length) (i32.const 11))
          (i32.eq (i32.load8_u (local.get $key)) (i32.const 0x63)))
      (then (return (i32.const 1))))
    (i32.and (local.get $hasEscape) (i32.le_u (local.get $length) (i32.const 66))))

  ;; Adds a position to the members.
  (func $addMember (param $position i32)
    (local $count i32)
    (local.set $count (i32.load (global.get $MEMBER_NUMBERS)))
    (if (i32.ge_u (local.get $count) (global.get $MAX_MEMBER_NUMBERS))
      (then
        (i32.store (global.get $HAS_LOST_MEMBERS) (i32.const 1))
        (return)))
    (i32.store
      (i32.add (global.get $MEMBERS) (i32.shl (local.get $count) (i32.const 2)))
      (local.get $position))
    (i32.store (global.get $MEMBER_NUMBERS) (i32.add (local.get $count) (i32.const 1))))

  ;; Ends the value of a member of the outermost object.
  (func $endMember (param $depth i32) (param $position i32)
    (if (i32.and
          (i32.eq (local.get $depth) (i32.const 1))
          (i32.eq (i32.and (i32.load (global.get $MEMBER_NUMBERS)) (i32.const 3)) (i32.const 3)))
      (then (call $addMember (local.get $position)))))

  ;; Scans $length bytes at $input, and writes the outline to $output unless that is 0. Returns 0, or the limit that the
  ;; text exceeds: 1, depth; 2, keys of an object; 3, values.
  (func (export "scan") (param $input i32) (param $length i32) (param $output i32) (param $maxValues i32) (result i32)
    (local $at i32) (local $end i32) (local $byte i32) (local $depth i32) (local $values i32)
    (local $stringStart i32) (local $stringEnd i32) (local $keys i32) (local $place i32)
    (local $isInMessages i32) (local $kind i32)
    ;; Depth of the key `image_url` whose value this is; 0 outside of one. Estimates of tokens leave it out.
    (local $imageDepth i32)
    ;; End of what is in the outline, and of the outline.
    (local $copied i32) (local $written i32)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 64))
    (i32.store (global.get $KEYS_AT_DEPTH) (i32.const 0))
    (local.set $values (i32.const 1))
    (local.set $at (local.get $input))
    (local.set $copied (local.get $input))
    (local.set $written (local.get $output))
    (local.set $stringStart (local.get $input))
    (local.set $stringEnd (local.get $input))
    (local.set $end (i32.add (local.get $input) (local.get $length)))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (block $other
          ;; A quote.
          (if (i32.eq (local.get $byte) (i32.const 0x22))
            (then
              (local.set $stringStart (i32.add (local.get $at) (i32.const 1)))
              (local.set $stringEnd (call $string (local.get $stringStart) (local.get $end)))
              (local.set $at (local.get $stringEnd))
              (br_if $other (i32.eqz (local.get $kind)))
              (if (i32.and
                    (i32.eqz (global.get $isInvalid))
                    (i32.ge_u
                      (i32.sub (local.get $stringEnd) (local.get $stringStart))
                      (global.get $MIN_SHORTENED)))
                (then
                  (if (if (result i32) (i32.eq (local.get $kind) (i32.const 1))
                        (then (call $isPlainText (local.get $stringStart)))
                        (else (call $isDataUrl (local.get $stringStart))))
                    (then
                      (memory.copy
                        (local.get $written)
                        (local.get $copied)
                        (i32.sub (local.get $stringStart) (local.get $copied)))
                      (local.set $written
                        (i32.add (local.get $written) (i32.sub (local.get $stringStart) (local.get $copied))))
                      (local.set $copied (local.get $stringEnd))
                      (i32.store
                        (global.get $SHORTENED)
                        (i32.add (i32.load (global.get $SHORTENED)) (i32.const 1)))
                      (if (i32.eq (local.get $kind) (i32.const 1))
                        (then
                          ;; "*"
                          (i32.store8 (local.get $written) (i32.const 0x2a))
                          (local.set $written (i32.add (local.get $written) (i32.const 1)))
                          (i32.store
                            (global.get $HIDDEN_BYTES)
                            (i32.add
                              (i32.load (global.get $HIDDEN_BYTES))
                              (i32.sub
                                (i32.sub (local.get $stringEnd) (local.get $stringStart))
                                (i32.add (global.get $escapeBytes) (i32.const 1))))))
                        (else
                          ;; "data:"
                          (i32.store (local.get $written) (i32.const 0x61746164))
                          (i32.store8 offset=4 (local.get $written) (i32.const 0x3a))
                          (local.set $written (i32.add (local.get $written) (i32.const 5)))))))))
              (local.set $kind (i32.const 0))
              (br $other)))
          ;; [ or {, which differ from each other by one bit.
          (if (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5b))
            (then
              (local.set $kind (i32.const 0))
              (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
              (local.set $values (i32.add (local.get $values) (i32.const 1)))
              (if (i32.gt_u (local.get $depth) (global.get $MAX_DEPTH)) (then (return (i32.const 1))))
              (i32.store
                (i32.add (global.get $KEYS_AT_DEPTH) (i32.shl (local.get $depth) (i32.const 2)))
                (i32.const 0))
              (br $other)))
          ;; ] or }.
          (if (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5d))
            (then
              (local.set $kind (i32.const 0))
              (call $endMember (local.get $depth) (i32.sub (local.get $at) (local.get $input)))
              (if (i32.le_u (local.get $depth) (local.get $imageDepth))
                (then (local.set $imageDepth (i32.const 0))))
              (local.set $depth
                (select
                  (i32.sub (local.get $depth) (i32.const 1))
                  (i32.const 0)
                  (i32.gt_u (local.get $depth) (i32.const 0))))
              (br $other)))
          ;; A comma.
          (if (i32.eq (local.get $byte) (i32.const 0x2c))
            (then
              (local.set $kind (i32.const 0))
              (call $endMember (local.get $depth) (i32.sub (local.get $at) (local.get $input)))
              (if (i32.le_u (local.get $depth) (local.get $imageDepth))
                (then (local.set $imageDepth (i32.const 0))))
              (local.set $values (i32.add (local.get $values) (i32.const 1)))
              (br $other)))
          ;; A colon.
          (if (i32.eq (local.get $byte) (i32.const 0x3a))
            (then
              (local.set $place
                (i32.add (global.get $KEYS_AT_DEPTH) (i32.shl (local.get $depth) (i32.const 2))))
              (local.set $keys (i32.add (i32.load (local.get $place)) (i32.const 1)))
              (if (i32.gt_u (local.get $keys) (global.get $MAX_KEYS)) (then (return (i32.const 2))))
              (i32.store (local.get $place) (local.get $keys))
              (i32.store
                (global.get $KEY_COUNT)
                (i32.add (i32.load (global.get $KEY_COUNT)) (i32.const 1)))
              (if (call $mayPoison
                    (local.get $stringStart)
                    (i32.sub (local.get $stringEnd) (local.get $stringStart))
                    (i32.ne (global.get $escapeBytes) (i32.const 0)))
                (then (i32.store (global.get $IS_SUSPICIOUS) (i32.const 1))))
              (if (i32.eq (local.get $depth) (i32.const 1))
                (then
                  (call $addMember (i32.sub (local.get $stringStart) (local.get $input)))
                  (call $addMember (i32.sub (local.get $stringEnd) (local.get $input)))
                  (call $addMember
                    (i32.add (i32.sub (local.get $at) (local.get $input)) (i32.const 1)))
                  ;; "messages"
                  (local.set $isInMessages
                    (i32.and
                      (i32.eq
                        (i32.sub (local.get $stringEnd) (local.get $stringStart))
                        (i32.const 8))
                      (i64.eq (i64.load (local.get $stringStart)) (i64.const 0x736567617373656d)))))
                (else
                  (if (i32.and (i32.ne (local.get $output) (i32.const 0)) (local.get $isInMessages))
                    (then
                      (local.set $kind
                        (call $kindOf
                          (local.get $depth)
                          (local.get $imageDepth)
                          (local.get $stringStart)
                          (i32.sub (local.get $stringEnd) (local.get $stringStart))))
                      (if (i32.and
                            (i32.eqz (local.get $imageDepth))
                            (call $isImageUrl
                              (local.get $stringStart)
                              (i32.sub (local.get $stringEnd) (local.get $stringStart))))
                        (then (local.set $imageDepth (local.get $depth)))))))))))
        (if (i32.gt_u (local.get $values) (local.get $maxValues)) (then (return (i32.const 3))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (if (local.get $output)
      (then
        (memory.copy
          (local.get $written)
          (local.get $copied)
          (i32.sub (local.get $end) (local.get $copied)))
        (i32.store
          (global.get $OUTLINE_BYTES)
          (i32.sub
            (i32.add (local.get $written) (i32.sub (local.get $end) (local.get $copied)))
            (local.get $output)))))
    (i32.const 0))
)
