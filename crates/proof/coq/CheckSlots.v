(* The checker of straight-line code for `eip6690-2024` and `evmmax-next`: one context of the program's modulus, with slots that hold the
   program's values as sums. Values in memory have 32 bytes, those in code as many as the context says. `SoundSlots.v` proves it sound; all else is as in `Check.v`. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Slots.
Import ListNotations.
Open Scope Z_scope.

Module M := PositiveMap.

(* The context, once there is one: slots, bytes of a value, and the slots that are not zero. *)
Record field := Field { count : nat; width : Z; held : M.t sum }.

Definition key_of (i : nat) : positive := Pos.of_succ_nat i.
Definition slot (F : field) (i : nat) : sum := match M.find (key_of i) (held F) with Some s => s | None => [] end.
Definition place (i : nat) (s : sum) (F : field) : field :=
  if Nat.ltb i (count F) then Field (count F) (width F) (M.add (key_of i) s (held F)) else F.
Definition places (l : list nat) (new : list sum) (F : field) : field :=
  fold_left (fun F '(i, s) => place i s F) (combine l new) F.

Section Prime.
Variable p : Z.
Variable next : bool.
Variable code : list Z.
Variable jumps : list Z. (* the code without immediates of field instructions *)
Variable prog : program.

(* The values of words, if each is below the modulus or the store fails for one of the conditions that are allowed; and which parses these are. *)
Fixpoint elements (allowed : cond -> bool) (l : list sword) : option (list sum * list cond) :=
  match l with
  | [] => Some ([], [])
  | x :: l =>
      match elements allowed l with
      | Some (sums, conds) =>
          match x with
          | SW s lo hi => if (0 <=? lo) && (hi <? p) then Some (s :: sums, conds) else None
          | SRaw i =>
              if allowed (CNotBelow i) then Some ([(i, 1)] :: sums, CNotBelow i :: conds) else None
          | _ => None
          end
      | None => None
      end
  end.

(* Calldata from an offset on, word by word, each of which is parsed. *)
Fixpoint parsed_words (from : Z) (n : nat) : option (list sword) :=
  match n with
  | O => Some []
  | Datatypes.S n =>
      match find (fun '(_, off) => off =? from) (parses prog), parsed_words (from + 32) n with
      | Some (i, _), Some l => Some (SRaw i :: l)
      | _, _ => None
      end
  end.

Definition lane_sum (T : tables) (k : lane) (a b : sum) (hs : list positive) : option (sum * list positive) :=
  match k with
  | LAdd => Some (sadd p a b, hs)
  | LSub => Some (sadd p a (sneg p b), hs)
  | LMul => product p T a b hs
  end.

Definition next_name (names : list (option positive)) : option positive * list (option positive) :=
  match names with f :: r => (f, r) | [] => (None, []) end.

(* What lanes leave, with the hints that are left. *)
Fixpoint lane_sums (T : tables) (k : lane) (l : list (sum * sum)) (hs : list positive) (names : list (option positive))
  : option (list sum * list positive * list (option positive)) :=
  match l with
  | [] => Some ([], hs, names)
  | (a, b) :: l =>
      match lane_sum T k a b hs with
      | Some (c, hs) =>
          let '(f, names) := next_name names in
          match renamed p T f c with
          | Some c =>
              match lane_sums T k l hs names with
              | Some (new, hs, names) => Some (c :: new, hs, names)
              | None => None
              end
          | None => None
          end
      | None => None
      end
  end.

Record fstate := FS { base : sstate; known : option field; failures : list cond; fnames : list (option positive) }.

Definition kept (F : option field) : Z := match F with Some F => words (width F * Z.of_nat (count F)) | None => 0 end.
(* A context as prices see it. *)
Definition priced (width : Z) : context := Context p width [].
(* True if values in memory are words. *)
Definition by_words (padded : option Z) (F : field) : bool :=
  match padded with Some s => (s =? 32) && (width F <=? 32) | None => width F =? 32 end.
(* The slots that a transfer moves are there. *)
Definition has (F : field) (first n : Z) : bool := (1 <=? n) && (first + n <=? Z.of_nat (count F)).

(* A copy of n bytes that are these words. *)
Definition copy (st : fstate) (r : list sword) (a : Z) (key : positive) (n : Z) (l : list sword) : Z * fstate :=
  let s := base st in
  let mw := grown (smw s) a n in
  (3 + 3 * words n + growth (kept (known st)) (smw s) mw,
   FS (S r (stored (smem s) key l) mw (hints s)) (known st) (failures st) (fnames st)).

(* ---- bytes of memory, and values of fewer than 32 ---- *)

(* A byte, where memory has a number, or nothing has been written. *)
Definition known_byte (m : M.t sword) (x : Z) : option Z :=
  match M.find (Z.to_pos (x / 32 + 1)) m with
  | Some w => option_map (fun v => nth (Z.to_nat (x mod 32)) (bytes_of 32 v) 0) (exactly w)
  | None => Some 0
  end.
Fixpoint known_bytes (m : M.t sword) (x : Z) (n : nat) : option (list Z) :=
  match n with
  | O => Some []
  | Datatypes.S n =>
      match known_byte m x, known_bytes m (x + 1) n with Some b, Some l => Some (b :: l) | _, _ => None end
  end.

(* The value of w bytes at an address: a number below the modulus, or the end of a word that is parsed and has no more bits. *)
Definition narrow (allowed : cond -> bool) (m : M.t sword) (done : list cond) (a w : Z) : option (sum * list cond) :=
  match known_bytes m a (Z.to_nat w) with
  | Some l => let v := beZ l in if v <? p then Some (const p v, []) else None
  | None =>
      let start := a + w - 32 in
      if (0 <=? start) && (start mod 32 =? 0) then
        match M.find (Z.to_pos (start / 32 + 1)) m with
        | Some (SRaw i) =>
            if existsb (condeqb (CAbove i (8 * w))) done && allowed (CNotBelow i)
            then Some ([(i, 1)], [CNotBelow i]) else None
        | _ => None
        end
      else None
  end.
Fixpoint narrows (allowed : cond -> bool) (m : M.t sword) (done : list cond) (a w : Z) (n : nat) : option (list sum * list cond) :=
  match n with
  | O => Some ([], [])
  | Datatypes.S n =>
      match narrow allowed m done a w, narrows allowed m done (a + w) w n with
      | Some (s, c), Some (sums, conds) => Some (s :: sums, c ++ conds)
      | _, _ => None
      end
  end.

(* Bytes that a copy writes, with those that stand after them in the last word. *)
Definition filled_up (m : M.t sword) (a n : Z) (l : list Z) : option (list Z) :=
  let bytes := take (Z.to_nat n) l in
  if n mod 32 =? 0 then Some bytes
  else option_map (fun r => bytes ++ r) (known_bytes m (a + n) (Z.to_nat (32 - n mod 32))).

(* After a context has been made. *)
Definition opened_slots (st : fstate) (r : list sword) (width n : Z) : option (Z * fstate) :=
  let s := base st in
  let F := Field (Z.to_nat n) width (M.empty sum) in
  Some (1 + set_price (priced width) + growth 0 (smw s) (smw s + kept (Some F)),
        FS (S r (smem s) (smw s) (hints s)) (Some F) (failures st) (fnames st)).

(* After slots have taken elements. *)
Definition stored_slots (st : fstate) (r : list sword) (F : field) (first n : Z) (sums : list sum) (conds : list cond)
  : option (Z * fstate) :=
  let s := base st in
  Some (1 + n * mul_price (priced (width F)),
        FS (S r (smem s) (smw s) (hints s)) (Some (places (span first n) sums F)) (conds ++ failures st) (fnames st)).

Definition sfield (allowed : cond -> bool) (T : tables) (i : finstr) (st : fstate) : option (Z * fstate) :=
  let s := base st in
  match i, sstack s, known st with
  | SETMODX, id :: a :: size :: n :: r, None =>
      match exactly id, exactly a, exactly size, exactly n with
      | Some id, Some a, Some size, Some n =>
          let width := 8 * ((size + 7) / 8) in
          if between 0 id 256 && between 1 size 96 && between 1 n 256 && (width * n <=? 24576) && (0 <=? a)
             && inside (smw s) a size && (3 <=? p) then
            match known_bytes (smem s) a (Z.to_nat size) with
            | Some l => if beZ l =? p then opened_slots st r width n else None
            | None => None
            end
          else None
      | _, _, _, _ => None
      end
  | SETMODCX, id :: a :: size :: n :: r, None =>
      match exactly id, exactly a, exactly size, exactly n with
      | Some id, Some a, Some size, Some n =>
          let width := 8 * ((size + 7) / 8) in
          if between 0 id 256 && between 1 size 96 && between 1 n 256 && (width * n <=? 24576) && (0 <=? a)
             && (a + size <=? Z.of_nat (length code)) && (3 <=? p) then
            if beZ (take (Z.to_nat size) (skipn (Z.to_nat a) code)) =? p then opened_slots st r width n else None
          else None
      | _, _, _, _ => None
      end
  | STOREX padded, first :: a :: n :: r, Some F =>
      match exactly first, exactly a, exactly n with
      | Some first, Some at_, Some n =>
          if by_words padded F then
            match slot_of a with
            | Some (_, key) =>
                if has F first n && inside (smw s) at_ (n * 32) then
                  match elements allowed (loaded (smem s) key (Z.to_nat n)) with
                  | Some (sums, conds) => stored_slots st r F first n sums conds
                  | None => None
                  end
                else None
            | None => None
            end
          else
            match padded with
            | None =>
                if has F first n && inside (smw s) at_ (n * width F) && (0 <=? at_) && between 1 (width F) 31 then
                  match narrows allowed (smem s) (failures st) at_ (width F) (Z.to_nat n) with
                  | Some (sums, conds) => stored_slots st r F first n sums conds
                  | None => None
                  end
                else None
            | Some _ => None
            end
      | _, _, _ => None
      end
  | STORECX, first :: a :: n :: r, Some F =>
      match exactly first, exactly a, exactly n with
      | Some first, Some a, Some n =>
          if has F first n && (0 <=? a) && (a + n * width F <=? Z.of_nat (length code)) then
            let l := pieces (Z.to_nat (width F)) (Z.to_nat n) (skipn (Z.to_nat a) code) in
            if forallb (fun v => v <? p) l then stored_slots st r F first n (map (const p) l) [] else None
          else None
      | _, _, _ => None
      end
  | LOADX padded, a :: first :: n :: r, Some F =>
      match exactly a, exactly first, exactly n with
      | Some at_, Some first, Some n =>
          if by_words padded F then
            match slot_of a with
            | Some (_, key) =>
                if has F first n && inside (smw s) at_ (n * 32) then
                  let moved := map (fun i => SW (slot F i) 0 (p - 1)) (span first n) in
                  Some (1 + n * mul_price (priced (width F)),
                        FS (S r (stored (smem s) key moved) (smw s) (hints s)) (Some F) (failures st) (fnames st))
                else None
            | None => None
            end
          else
            (* One value, at the end of a word that is zero. *)
            let start := at_ + width F - 32 in
            match padded, known_bytes (smem s) start 32 with
            | None, Some l =>
                if has F first n && (n =? 1) && inside (smw s) at_ (n * width F) && (0 <=? start) && (start mod 32 =? 0)
                   && between 1 (width F) 31 && (beZ l =? 0) && (p <=? 256 ^ width F) then
                  Some (1 + n * mul_price (priced (width F)),
                        FS (S r (M.add (Z.to_pos (start / 32 + 1)) (SW (slot F (Z.to_nat first)) 0 (p - 1)) (smem s)) (smw s) (hints s))
                           (Some F) (failures st) (fnames st))
                else None
            | _, _ => None
            end
      | _, _, _ => None
      end
  | LANES k [o; os; x; xs; y; ys; n], _, Some F =>
      let last i s := i + s * (n - 1) <? Z.of_nat (count F) in
      if (1 <=? os) && (1 <=? n) && last o os && last x xs && last y ys then
        match lane_sums T k (combine (map (slot F) (strided x xs n)) (map (slot F) (strided y ys n))) (hints s) (fnames st) with
        | Some (new, hs, names) =>
            Some (n * match k with LMul => mul_price (priced (width F)) | _ => sum_price (priced (width F)) end,
                  FS (S (sstack s) (smem s) (smw s) hs) (Some (places (strided o os n) new F)) (failures st) names)
        | None => None
        end
      else None
  | ISZEROX i, k, Some F =>
      if (0 <=? i) && (i <? Z.of_nat (count F)) then
        Some (3, FS (S (SB (CZero (slot F (Z.to_nat i))) :: k) (smem s) (smw s) (hints s)) (Some F) (failures st) (fnames st))
      else None
  | CALLDATACOPY, a :: from :: n :: r, _ =>
      match slot_of a, exactly from, exactly n with
      | Some (a, key), Some from, Some n =>
          match whole n with
          | Some k => if 0 <=? from then option_map (copy st r a key n) (parsed_words from k) else None
          | None => None
          end
      | _, _, _ => None
      end
  | CODECOPY, a :: from :: n :: r, _ =>
      match slot_of a, exactly from, exactly n with
      | Some (a, key), Some from, Some n =>
          match whole (32 * ((n + 31) / 32)) with
          | Some k =>
              if (0 <=? n) && (from <=? Z.of_nat (length code)) then
                match filled_up (smem s) a n (skipn (Z.to_nat from) code) with
                | Some l => Some (copy st r a key n (map (fun v => SW (const p v) v v) (pieces 32 k l)))
                | None => None
                end
              else None
          | None => None
          end
      | _, _, _ => None
      end
  | _, _, _ => None
  end.

Definition fails_at (d : Z) : bool :=
  (0 <=? d) && valid jumps d &&
  match skipn (Z.to_nat d) code with a :: b :: _ => (a =? 0x5b) && (b =? 0xfe) | _ => false end.

(* An instruction that neither jumps nor returns: its gas, what it leaves, and its length. *)
Definition splain (T : tables) (i : instr) (st : fstate) : option (Z * fstate) :=
  match sinstr p T (parses prog) i (base st) with
  | Some (cost, s) =>
      let '(f, names) := if arithmetic i then next_name (fnames st) else (None, fnames st) in
      match named p T f s with
      | Some s =>
          Some (cost + beside (kept (known st)) (smw (base st)) (smw s), FS s (known st) (failures st) names)
      | None => None
      end
  | None => None
  end.

(* From the bytes that are left: the gas that all of it takes. *)
Fixpoint frun (fuel : nat) (T : tables) (rest : list Z) (st : fstate) : option Z :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let go n (r : option (Z * fstate)) :=
        match r with
        | Some (cost, st) =>
            if (0 <=? cost) && within (sstack (base st)) then
              match frun fuel T (skipn n rest) st with Some g => Some (cost + g) | None => None end
            else None
        | None => None
        end in
      match fdecode next rest with
      | Some (i, n) => go n (sfield (fun c => existsb (condeqb c) (fails prog)) T i st)
      | None =>
          let '(i, n) := decode rest in
          let s := base st in
          match i, sstack s with
          | JUMPI, d :: SB c :: r =>
              match exactly d with
              | Some d =>
                  if fails_at d && existsb (condeqb c) (fails prog) then
                    go n (Some (10, FS (S (checked p c r) (smem s) (smw s) (hints s)) (known st) (c :: failures st) (fnames st)))
                  else None
              | None => None
              end
          | JUMPI, d :: SOr l bits :: r =>
              match exactly d with
              | Some d =>
                  if fails_at d && (0 <=? bits) && (p <=? 2 ^ bits)
                     && forallb (fun i => existsb (condeqb (CNotBelow i)) (fails prog)) l then
                    go n (Some (10, FS (S r (smem s) (smw s) (hints s)) (known st)
                                       (map (fun i => CAbove i bits) l ++ failures st) (fnames st)))
                  else None
              | None => None
              end
          | RETURN, x :: n :: _ =>
              match slot_of x, exactly n with
              | Some (a, key), Some n =>
                  let mw := grown (smw s) a n in
                  let cost := cmem mw - cmem (smw s) + beside (kept (known st)) (smw s) mw in
                  if (n =? 32 * Z.of_nat (length (results prog))) && returns p T (smem s) key (results prog)
                     && forallb (fun c => existsb (condeqb c) (failures st)) (fails prog) && (0 <=? cost)
                  then Some cost else None
              | _, _ => None
              end
          | _, _ => go n (splain T i st)
          end
      end
  end.

End Prime.

Definition check_slots (next : bool) (P : program) (w : witness) (code : list Z) : option Z :=
  if forallb (fun b => between 0 b 255) code && Z.odd (modulus P) then
    match prepared P w with
    | Some T =>
        frun (modulus P) next code (blank next O O code) P (length code) T code
             (FS (S [] (M.empty sword) 0 (w_values w)) None [] (w_names w))
    | None => None
    end
  else None.
