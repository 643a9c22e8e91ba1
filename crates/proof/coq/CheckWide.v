(* The checker of programs whose modulus is no word, of code with slots: the walk of `CheckFlowSlots.v` over memory that is known by limbs
   of 8 bytes. Numbers of more than 32 bytes that are parsed are words of the program's list: CALLDATALOAD, the offset, and how many bytes more. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Slots CheckSlots Flow CheckFlow CheckFlowSlots.
Import ListNotations.
Open Scope Z_scope.

(* ---- memory by limbs ---- *)

(* A number, bytes of calldata from an offset on, or of the element that a sum is the 64 bits above the lowest n. *)
Inductive limb := LNum (n : Z) | LCall (off : Z) | LElem (s : sum) (n : Z).

(* What has not been written is zero. *)
Definition limb_at (m : M.t limb) (key : positive) : limb := match M.find key m with Some x => x | None => LNum 0 end.
Fixpoint limbs_at (m : M.t limb) (key : positive) (n : nat) : list limb :=
  match n with O => [] | Datatypes.S n => limb_at m key :: limbs_at m (Pos.succ key) n end.
Fixpoint limbs_put (m : M.t limb) (key : positive) (l : list limb) : M.t limb :=
  match l with [] => m | x :: l => limbs_put (M.add key x m) (Pos.succ key) l end.
Fixpoint further (key : positive) (n : nat) : positive := match n with O => key | Datatypes.S n => further (Pos.succ key) n end.

(* The number of a limb of memory, and limbs of less than 1 MiB. *)
Definition limb_of (x : sword) : option (Z * positive) :=
  match exactly x with
  | Some a => if (0 <=? a) && (a <? 2 ^ 32) && (a mod 8 =? 0) then Some (a, Z.to_pos (a / 8 + 1)) else None
  | None => None
  end.
Definition eighths (n : Z) : option nat :=
  if (0 <=? n) && (n <? 1048576) && (n mod 8 =? 0) then Some (Z.to_nat (n / 8)) else None.

(* The number that limbs are, the offset of calldata that they begin at, and the part of an element that they are, above the lowest n bits. *)
Fixpoint numeral (l : list limb) : option Z :=
  match l with
  | [] => Some 0
  | LNum n :: l => option_map (fun v => n * 2 ^ (64 * Z.of_nat (length l)) + v) (numeral l)
  | _ => None
  end.
(* The number that n bytes of memory are. *)
Definition number_at (m : M.t limb) (a n : Z) : option Z :=
  let low := a mod 8 in
  let c := (low + n + 7) / 8 in
  option_map (fun v => v / 256 ^ (8 * c - low - n) mod 256 ^ n) (numeral (limbs_at m (Z.to_pos (a / 8 + 1)) (Z.to_nat c))).
Fixpoint calls (off : Z) (l : list limb) : bool :=
  match l with [] => true | LCall o :: l => (o =? off) && calls (off + 8) l | _ => false end.
Definition of_calldata (l : list limb) : option Z :=
  match l with LCall off :: _ => if (0 <=? off) && calls off l then Some off else None | _ => None end.
Fixpoint parts (s : sum) (n : Z) (l : list limb) : bool :=
  match l with
  | [] => true
  | LElem t m :: l => seqb s t && (m =? n + 64 * Z.of_nat (length l)) && parts s n l
  | _ => false
  end.
Definition of_element (l : list limb) : option (sum * Z) :=
  match l with
  | LElem s m :: r => let n := m - 64 * Z.of_nat (length r) in if (0 <=? n) && parts s n l then Some (s, n) else None
  | _ => None
  end.

Fixpoint call_limbs (off : Z) (n : nat) : list limb :=
  match n with O => [] | Datatypes.S n => LCall off :: call_limbs (off + 8) n end.
Fixpoint element_limbs (s : sum) (n : nat) : list limb :=
  match n with O => [] | Datatypes.S n => LElem s (64 * Z.of_nat n) :: element_limbs s n end.

Section Prime.
Variable p : Z.
Variable next : bool.
Variable code : list Z.
Variable jumps : list Z. (* the code without immediates of field instructions *)
Variable prog : program. (* the operations of all paths *)
Variable wnames : list named_word.

(* ---- words and elements of memory ---- *)

(* A number that is parsed: its value, its offset, and its bytes beyond 32. *)
Definition wide_number (w : named_word) : option (positive * Z * Z) :=
  match w with (i, (CALLDATALOAD, PNum off, PNum more)) => if (0 <=? off) && (0 <=? more) then Some (i, off, more) else None | _ => None end.
Definition first_wide (ok : positive -> Z -> Z -> bool) : option (positive * Z * Z) :=
  match find (fun w => match wide_number w with Some (i, off, more) => ok i off more | None => false end) wnames with
  | Some w => wide_number w
  | None => None
  end.

(* A word of calldata: the beginning of a number of more bytes, or one that the program reads. *)
Definition calldata_word (off : Z) : option sword :=
  match first_wide (fun _ o more => (o =? off) && (1 <=? more)) with
  | Some (i, _, more) => Some (SOr [i] (8 * more))
  | None => option_map SRaw (find_read (parses prog) off)
  end.
Definition word_of_limbs (l : list limb) : option sword :=
  match numeral l, of_calldata l, of_element l with
  | Some v, _, _ => Some (SW (const p v) v v)
  | _, Some off, _ => calldata_word off
  | _, _, Some (s, n) => Some (SPart s [n])
  | _, _, _ => None
  end.

(* The element that a value in memory is, and when a store of it halts: a number, or one that is parsed, whose first bytes may be left out
   once they are known to be zero. *)
Definition wide_element (F : list fact) (m : M.t limb) (a : Z) (size : nat) : option (sum * list cond) :=
  let n := 8 * Z.of_nat size in
  match number_at m a n, of_calldata (limbs_at m (Z.to_pos (a / 8 + 1)) size) with
  | Some v, _ => if v <? p then Some (const p v, []) else None
  | None, Some off =>
      let is_it i o more :=
        (a mod 8 =? 0) && (o <=? off) && (o + (32 + more) =? off + n)
        && ((o =? off) || match look p F (CAbove i (8 * n)) with Some false => true | _ => false end) in
      match first_wide is_it with
      | Some (i, _, _) => Some ([(i, 1)], [CNotBelow i])
      | None => None
      end
  | None, None => None
  end.
Fixpoint wide_elements (F : list fact) (m : M.t limb) (a : Z) (size n : nat) : option (list sum * list cond) :=
  match n with
  | O => Some ([], [])
  | Datatypes.S n =>
      match wide_element F m a size, wide_elements F m (a + 8 * Z.of_nat size) size n with
      | Some (s, c), Some (sums, conds) => Some (s :: sums, c ++ conds)
      | _, _ => None
      end
  end.

(* True if limbs are the element that a sum is: the first ones may be zeros, where it has none. *)
Fixpoint shows (s : sum) (l : list limb) : bool :=
  match l with
  | [] => true
  | x :: l =>
      let low := 64 * Z.of_nat (length l) in
      match x with
      | LElem t n => seqb s t && (n =? low)
      | LNum z => (z =? 0) && (p <=? 2 ^ low)
      | LCall _ => false
      end && shows s l
  end.
Fixpoint wide_returns (T : tables) (m : M.t limb) (key : positive) (size : nat) (l : list positive) : bool :=
  match l with
  | [] => true
  | i :: l =>
      match M.find i (sums T) with
      | Some s => shows s (limbs_at m key size) && wide_returns T m (further key size) size l
      | None => false
      end
  end.
Definition wide_returned (T : tables) (m : M.t limb) (key : positive) (n : Z) (w : way) : bool :=
  match snd w with
  | ReturnsBytes size l =>
      match eighths size with
      | Some each => (n =? size * Z.of_nat (length l)) && wide_returns T m key each l
      | None => false
      end
  | _ => false
  end.

(* ---- instructions ---- *)

(* The memory of `flat` is never read nor written. *)
Record wstate := WS { flat : fstate; limbs : M.t limb }.

(* Limbs of n bytes that a copy writes: after them the last limb keeps the bytes of a number. *)
Definition filled_limbs (m : M.t limb) (key : positive) (n : Z) (k : nat) (l : list Z) : option (list limb) :=
  let bytes := take (Z.to_nat n) l in
  match (8 * k - Z.to_nat n)%nat with
  | O => Some (map LNum (pieces 8 k bytes))
  | r => match limb_at m (further key (k - 1)) with LNum z => Some (map LNum (pieces 8 k (bytes ++ bytes_of r z))) | _ => None end
  end.

(* A copy of n bytes that are these limbs. *)
Definition wide_copy (st : wstate) (r : list sword) (a : Z) (key : positive) (n : Z) (l : list limb) : Z * wstate * list cond :=
  let fs := flat st in let s := base fs in
  let mw := grown (smw s) a n in
  (3 + 3 * words n + growth (kept (known fs)) (smw s) mw,
   WS (FS (S r (smem s) mw (hints s)) (known fs) (failures fs) (fnames fs)) (limbs_put (limbs st) key l), []).

(* A field instruction: its gas, what it leaves, and the conditions under which it halts. *)
Definition wfield (T : tables) (F : list fact) (i : finstr) (st : wstate) : option (Z * wstate * list cond) :=
  let fs := flat st in let s := base fs in
  let flatly (r : option (Z * fstate)) (m : M.t limb) (conds : list cond) :=
    match r with Some (cost, fs) => Some (cost, WS fs m, conds) | None => None end in
  match i, sstack s, known fs with
  | SETMODX, id :: a :: size :: n :: r, None =>
      match exactly id, exactly a, exactly size, exactly n with
      | Some id, Some a, Some size, Some n =>
          let width := 8 * ((size + 7) / 8) in
          if between 0 id 256 && between 1 size 96 && between 1 n 256 && (width * n <=? 24576) && (0 <=? a)
             && inside (smw s) a size && (3 <=? p) then
            match number_at (limbs st) a size with
            | Some v => if v =? p then flatly (opened_slots p fs r width n) (limbs st) [] else None
            | None => None
            end
          else None
      | _, _, _, _ => None
      end
  | STOREX padded, first :: a :: n :: r, Some G =>
      let bytes := match padded with Some b => b | None => width G end in
      match exactly first, exactly a, exactly n, eighths bytes with
      | Some first, Some a, Some n, Some size =>
          if has G first n && (0 <=? a) && inside (smw s) a (n * bytes) && (width G <=? bytes) then
            match wide_elements F (limbs st) a size (Z.to_nat n) with
            | Some (sums, conds) => flatly (stored_slots p fs r G first n sums []) (limbs st) conds
            | None => None
            end
          else None
      | _, _, _, _ => None
      end
  | LOADX padded, a :: first :: n :: r, Some G =>
      let bytes := match padded with Some b => b | None => width G end in
      match limb_of a, exactly first, exactly n, eighths bytes with
      | Some (a, key), Some first, Some n, Some size =>
          if has G first n && inside (smw s) a (n * bytes) && (width G <=? bytes) then
            let l := flat_map (fun i => element_limbs (slot G i) size) (span first n) in
            Some (1 + n * mul_price (priced p (width G)),
                  WS (FS (S r (smem s) (smw s) (hints s)) (Some G) (failures fs) (fnames fs)) (limbs_put (limbs st) key l), [])
          else None
      | _, _, _, _ => None
      end
  | CALLDATACOPY, a :: from :: n :: r, _ =>
      match limb_of a, exactly from, exactly n with
      | Some (a, key), Some from, Some n =>
          match eighths n with
          | Some k => if (0 <=? from) && (from <? 2 ^ 32) then Some (wide_copy st r a key n (call_limbs from k)) else None
          | None => None
          end
      | _, _, _ => None
      end
  | CODECOPY, a :: from :: n :: r, _ =>
      match limb_of a, exactly from, exactly n with
      | Some (a, key), Some from, Some n =>
          if (0 <=? n) && (from <=? Z.of_nat (length code)) then
            match eighths (8 * ((n + 7) / 8)) with
            | Some k => option_map (wide_copy st r a key n) (filled_limbs (limbs st) key n k (skipn (Z.to_nat from) code))
            | None => None
            end
          else None
      | _, _, _ => None
      end
  | SETMODCX, _, _ | STORECX, _, _ | LANES _ _, _, _ | ISZEROX _, _, _ => flatly (sfield p code prog (fun _ => true) T i fs) (limbs st) []
  | _, _, _ => None
  end.

(* An instruction that neither jumps nor returns: its gas, and what it leaves. *)
Definition wplain (T : tables) (i : instr) (st : wstate) : option (Z * wstate) :=
  let fs := flat st in let s := base fs in
  let over a k m :=
    let mw := grown (smw s) a 32 in
    Some (3 + (cmem mw - cmem (smw s)) + beside (kept (known fs)) (smw s) mw, WS (over_base fs (S k (smem s) mw (hints s))) m) in
  match i with
  | MLOAD =>
      match sstack s with
      | x :: r =>
          match limb_of x with
          | Some (a, key) =>
              match word_of_limbs (limbs_at (limbs st) key 4) with Some w => over a (w :: r) (limbs st) | None => None end
          | None => None
          end
      | [] => None
      end
  | MSTORE =>
      match sstack s with
      | x :: y :: r =>
          match limb_of x, exactly y with
          | Some (a, key), Some v => over a r (limbs_put (limbs st) key (map LNum (pieces 8 4 (bytes_of 32 v))))
          | _, _ => None
          end
      | _ => None
      end
  | MCOPY => None
  | _ =>
      match splain p prog T i (over_base fs (widened i s)) with
      | Some (cost, fs) => Some (cost, WS fs (limbs st))
      | None =>
          match word_step p wnames (fun x => x) i s with
          | Some (cost, s) => Some (cost, WS (over_base fs s) (limbs st))
          | None => None
          end
      end
  end.

(* From the bytes that are left, as `fwalk`; F is what jumps have told. *)
Fixpoint wwalk (fuel : nat) (T : tables) (ways : list way) (F : list fact) (rest : list Z) (st : wstate) : option spent :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let fs := flat st in let s := base fs in
      let over r hs names := WS (FS (S r (smem s) (smw s) hs) (known fs) (failures fs) names) (limbs st) in
      match fdecode next rest with
      | Some (i, n) =>
          match wfield T F i st with
          | Some (cost, st', l) =>
              if forallb (fun w => failed w || all_false p l w) ways && (0 <=? cost) && within (sstack (base (flat st'))) then
                match filter (fun w => negb (some_true p l w)) ways with
                | [] => Some (0, hints (base (flat st')), fnames (flat st'))
                | ways => plus cost (wwalk fuel T ways F (skipn n rest) st')
                end
              else None
          | None => None
          end
      | None =>
          let '(i, n) := decode rest in
          match i, sstack s with
          | JUMP, d :: r =>
              match exactly d with
              | Some d =>
                  if (0 <=? d) && valid jumps d && within r then
                    plus 8 (wwalk fuel T ways F (skipn (Z.to_nat d) code) (over r (hints s) (fnames fs)))
                  else None
              | None => None
              end
          | JUMPI, d :: x :: r =>
              match exactly d, iszero p x with
              | Some d, Some c =>
                  if within r then
                    let on :=
                      match where_ p c true ways with
                      | [] => Some (0, hints s, fnames fs)
                      | l => wwalk fuel T l (told c true ++ F) (skipn n rest) (over r (hints s) (fnames fs))
                      end in
                    match on with
                    | Some (g, hs, names) =>
                        match where_ p c false ways with
                        | [] => Some (10 + g, hs, names)
                        | l =>
                            if (0 <=? d) && valid jumps d then
                              match wwalk fuel T l (told c false ++ F) (skipn (Z.to_nat d) code) (over r hs names) with
                              | Some (g', hs, names) => Some (10 + Z.max g g', hs, names)
                              | None => None
                              end
                            else None
                        end
                    | None => None
                    end
                  else None
              | _, _ => None
              end
          | INVALID, _ => if forallb failed ways then Some (0, hints s, fnames fs) else None
          | RETURN, x :: n :: _ =>
              match limb_of x, exactly n with
              | Some (a, key), Some n =>
                  let mw := grown (smw s) a n in
                  let cost := cmem mw - cmem (smw s) + beside (kept (known fs)) (smw s) mw in
                  if forallb (wide_returned T (limbs st) key n) ways && (0 <=? cost) then Some (cost, hints s, fnames fs) else None
              | _, _ => None
              end
          | _, _ =>
              match wplain T i st with
              | Some (cost, st) =>
                  if (0 <=? cost) && within (sstack (base (flat st))) then plus cost (wwalk fuel T ways F (skipn n rest) st) else None
              | None => None
              end
          end
      end
  end.

End Prime.

Definition check_wide (next : bool) (P : flow) (h : hints_of_flow) (code : list Z) : option Z :=
  let p := f_modulus P in
  if forallb (fun b => between 0 b 255) code && Z.odd p then
    match all_paths P h with
    | Some (Q, T, ways) =>
        match wwalk p next code (blank next O O code) Q (h_words h) (Z.to_nat (h_steps h)) T ways [] code
                (WS (FS (S [] (M.empty sword) 0 (w_values (h_witness h))) None [] (w_names (h_witness h))) (M.empty limb)) with
        | Some (g, _, _) => Some g
        | None => None
        end
    | None => None
    end
  else None.
