(* The checker of straight-line code: a program against bytecode. `Sound.v` proves it sound.
   Hints are not believed: they say which product of the program a MULMOD is, which parse a CALLDATALOAD is, and which
   words have names: a named value is an atom of later sums, so that these stay short. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program.
Import ListNotations.
Open Scope Z_scope.

(* ---- sums: multiples of values, by ascending value ---- *)

Definition sum := list (positive * Z).

Module M := PositiveMap.

Section Prime.
Variable p : Z.

Definition addp (c d : Z) : Z := let e := c + d in if p <=? e then e - p else e.

Fixpoint sadd (a : sum) : sum -> sum :=
  match a with
  | [] => fun b => b
  | (i, c) :: a' =>
      (fix go (b : sum) : sum :=
         match b with
         | [] => a
         | (j, d) :: b' =>
             match Pos.compare i j with
             | Datatypes.Lt => (i, c) :: sadd a' b
             | Datatypes.Gt => (j, d) :: go b'
             | Datatypes.Eq => let e := addp c d in if e =? 0 then sadd a' b' else (i, e) :: sadd a' b'
             end
         end)
  end.
Definition sneg (a : sum) : sum := map (fun '(i, c) => (i, p - c)) a.
(* Where p is no prime a multiple may become zero: such terms go. *)
Definition sscale (k : Z) (a : sum) : sum :=
  if k =? 0 then [] else filter (fun '(_, c) => negb (c =? 0)) (map (fun '(i, c) => (i, (k * c) mod p)) a).
Definition const (v : Z) : sum := let r := if v <? p then v else v mod p in if r =? 0 then [] else [(1%positive, r)].
Definition as_const (a : sum) : option Z :=
  match a with [] => Some 0 | [(i, c)] => if Pos.eqb i 1 then Some c else None | _ => None end.
Fixpoint seqb (a b : sum) : bool :=
  match a, b with
  | [], [] => true
  | (i, c) :: a, (j, d) :: b => Pos.eqb i j && (c =? d) && seqb a b
  | _, _ => false
  end.

Fixpoint den (e : env) (a : sum) : Z := match a with [] => 0 | (i, c) :: a => c * e i + den e a end.

(* ---- the tables of a block: what its values are as sums, and what its products are of ---- *)

Record tables := Tables { sums : M.t sum; products : M.t (sum * sum); defs : M.t sum }.

Definition of_operand (T : tables) (x : operand) : option sum :=
  match x with
  | V i => M.find i (sums T)
  | C c => if (0 <=? c) then Some (const c) else None
  end.

(* A value that is a sum, and its name if it has one. *)
Definition name (cuts : M.t unit) (T : tables) (i : positive) (a : sum) : tables :=
  match M.find i cuts with
  | Some _ => Tables (M.add i [(i, 1)] (sums T)) (products T) (M.add i a (defs T))
  | None => Tables (M.add i a (sums T)) (products T) (defs T)
  end.

Definition add_op (cuts : M.t unit) (T : tables) (o : op) : option tables :=
  match of_operand T (left o), of_operand T (right o) with
  | Some a, Some b =>
      match what o with
      | KAdd => Some (name cuts T (out o) (sadd a b))
      | KSub => Some (name cuts T (out o) (sadd a (sneg b)))
      | KMul =>
          match as_const a, as_const b with
          | Some k, _ => Some (name cuts T (out o) (sscale k b))
          | _, Some k => Some (name cuts T (out o) (sscale k a))
          | None, None =>
              Some (Tables (M.add (out o) [(out o, 1)] (sums T)) (M.add (out o) (a, b) (products T)) (defs T))
          end
      end
  | _, _ => None
  end.

Fixpoint add_ops (cuts : M.t unit) (T : tables) (l : list op) : option tables :=
  match l with [] => Some T | o :: l => match add_op cuts T o with Some T => add_ops cuts T l | None => None end end.

(* Each value is defined once, after all that it reads: numbers ascend. *)
Fixpoint ascends (least : positive) (l : list op) : bool :=
  let below x := match x with V i => Pos.ltb i (match l with o :: _ => out o | [] => least end) | C _ => true end in
  match l with
  | [] => true
  | o :: r => Pos.leb least (out o) && below (left o) && below (right o) && ascends (Pos.succ (out o)) r
  end.
Fixpoint parses_ascend (least : positive) (l : list (positive * Z)) : option positive :=
  match l with
  | [] => Some least
  | (i, off) :: r => if Pos.leb least i && (0 <=? off) then parses_ascend (Pos.succ i) r else None
  end.

(* ---- symbolic words ---- *)

(* CAbove: a parsed number has more than n bits. CZero: the sum is zero mod p. CNone: all that these parses read is zero. *)
Inductive cond :=
| CSize (n : Z) | CNotBelow (i : positive) | CNot (c : cond) | CAbove (i : positive) (n : Z)
| CZero (s : sum) | CNone (l : list positive) | CAnd (a b : cond).
Inductive sword :=
| SW (s : sum) (lo hi : Z)  (* between bounds, and this sum mod p *)
| SRaw (i : positive)       (* exactly what a parse reads, below the modulus or not *)
| SSize
| SB (c : cond)
| SOr (l : list positive) (n : Z)  (* the OR of what these parses read, without the lowest n bits *)
| SPart (s : sum) (l : list Z). (* the OR of parts of the element that a sum is: for each n the 256 bits of it above the lowest n *)

(* True of equal conditions, as far as the failures of a straight program have them. *)
Fixpoint condeqb (a b : cond) : bool :=
  match a, b with
  | CSize n, CSize m => n =? m
  | CNotBelow i, CNotBelow j => Pos.eqb i j
  | CNot a, CNot b => condeqb a b
  | CAbove i n, CAbove j m => Pos.eqb i j && (n =? m)
  | _, _ => false
  end.

Record sstate := S { sstack : list sword; smem : M.t sword; smw : Z; hints : list positive }.

Definition arithmetic (i : instr) : bool :=
  match i with ADD | SUB | MUL | MOD | ADDMOD | MULMOD => true | _ => false end.

Definition exactly (x : sword) : option Z :=
  match x with SW _ lo hi => if lo =? hi then Some lo else None | _ => None end.

(* A word of memory, and its number. *)
Definition slot_of (x : sword) : option (Z * positive) :=
  match exactly x with
  | Some a => if (0 <=? a) && (a <? 2 ^ 32) && (a mod 32 =? 0) then Some (a, Z.to_pos (a / 32 + 1)) else None
  | None => None
  end.

Fixpoint stored (m : M.t sword) (key : positive) (l : list sword) : M.t sword :=
  match l with [] => m | x :: l => stored (M.add key x m) (Pos.succ key) l end.
Fixpoint loaded (m : M.t sword) (key : positive) (n : nat) : list sword :=
  match n with
  | O => []
  | Datatypes.S n =>
      match M.find key m with Some w => w | None => SW [] 0 0 end :: loaded m (Pos.succ key) n
  end.

(* Words of a copy, of less than 1 MiB: they are counted in unary. *)
Definition whole (n : Z) : option nat :=
  if (0 <=? n) && (n <? 1048576) && (n mod 32 =? 0) then Some (Z.to_nat (n / 32)) else None.

(* The product of two sums, which a hint says is this product of the program, or its negative. *)
Definition product (T : tables) (a b : sum) (hs : list positive) : option (sum * list positive) :=
  match as_const a, as_const b with
  | Some k, _ => Some (sscale k b, hs)
  | _, Some k => Some (sscale k a, hs)
  | None, None =>
      match hs with
      | [] => None
      | h :: hs =>
          match M.find h (products T) with
          | Some (x, y) =>
              if (seqb a x && seqb b y) || (seqb a y && seqb b x) then Some ([(h, 1)], hs)
              else let na := sneg a in let nb := sneg b in
              if (seqb na x && seqb nb y) || (seqb na y && seqb nb x) then Some ([(h, 1)], hs)
              else if (seqb na x && seqb b y) || (seqb na y && seqb b x)
                   || (seqb a x && seqb nb y) || (seqb a y && seqb nb x) then Some ([(h, p - 1)], hs)
              else None
          | None => None
          end
      end
  end.

Definition is_p (x : sword) : bool := match exactly x with Some v => v =? p | None => false end.

(* The parses that a word is the OR of, without so many bits. *)
Definition ored (x : sword) : option (list positive * Z) :=
  match x with SRaw i => Some ([i], 0) | SOr l n => Some (l, n) | _ => None end.
(* The word without n more bits. *)
Definition shifted (n : Z) (x : sword) : option sword :=
  match ored x with Some (l, m) => if (0 <=? n) && (n <? 256) then Some (SOr l (m + n)) else None | None => None end.

(* None of these numbers has more than n bits. *)
Fixpoint none_above (l : list positive) (n : Z) : cond :=
  match l with
  | [] => CNone []
  | [i] => CNot (CAbove i n)
  | i :: l => CAnd (CNot (CAbove i n)) (none_above l n)
  end.
(* True if the parts of an element are all that it has: it is zero where they are. *)
Definition covers (l : list Z) : bool :=
  let limbs := Z.to_nat (Z.log2 p / 64 + 1) in
  forallb (fun j => let low := 64 * Z.of_nat j in existsb (fun n => (0 <=? n) && (n <=? low) && (low + 64 <=? n + 256)) l) (seq 0 limbs).

(* The condition that a word is zero. *)
Definition iszero (x : sword) : option cond :=
  match x with
  | SB c => Some (CNot c)
  | SW s lo hi => if (0 <=? lo) && (hi <? p) then Some (CZero s) else None
  | SRaw i => Some (CNone [i])
  | SOr l n => if n =? 0 then Some (CNone l) else if 0 <? n then Some (none_above l n) else None
  | SSize => Some (CSize 0)
  | SPart s l => if covers l then Some (CZero s) else None
  end.

(* A comparison, or bits, of two words. *)
Definition sbin (i : instr) (x y : sword) : option sword :=
  match i, x, y with
  | AND, SB a, SB b => Some (SB (CAnd a b))
  | OR, SB a, SB b => Some (SB (CNot (CAnd (CNot a) (CNot b))))
  | LT, SB a, SB b => Some (SB (CAnd (CNot a) b))
  | GT, SB a, SB b => Some (SB (CAnd a (CNot b)))
  | GT, SRaw i, _ =>
      match exactly y with Some n => if n =? p - 1 then Some (SB (CNotBelow i)) else None | None => None end
  | OR, SPart s l, SPart t m => if seqb s t then Some (SPart s (l ++ m)) else None
  | OR, _, _ =>
      match ored x, ored y with Some (a, n), Some (b, m) => if n =? m then Some (SOr (a ++ b) n) else None | _, _ => None end
  | EQ, SSize, _ => match exactly y with Some n => Some (SB (CSize n)) | None => None end
  | EQ, _, SSize => match exactly x with Some n => Some (SB (CSize n)) | None => None end
  | EQ, _, _ =>
      match exactly x, exactly y with
      | Some 0, _ => option_map SB (iszero y)
      | _, Some 0 => option_map SB (iszero x)
      | _, _ => None
      end
  | _, _, _ => None
  end.

(* An instruction that goes on to the next one: gas, and the state after it. *)
Definition sinstr (T : tables) (P : list (positive * Z)) (i : instr) (s : sstate) : option (Z * sstate) :=
  let push cost x r := Some (cost, S (x :: r) (smem s) (smw s) (hints s)) in
  match i, sstack s with
  | PUSH n v, k => if (0 <=? v) && (v <? W) then push (if n then 2 else 3) (SW (const v) v v) k else None
  | DUP n, k => match nth_error k n with Some x => push 3 x k | None => None end
  | SWAP n, x :: r =>
      match nth_error r n with Some y => push 3 y (upd n x r) | None => None end
  | POP, _ :: r => Some (2, S r (smem s) (smw s) (hints s))
  | ADD, SW a l h :: SW b l' h' :: r =>
      if h + h' <? W then push 3 (SW (sadd a b) (l + l') (h + h')) r else None
  | SUB, SW a l h :: SW b l' h' :: r =>
      if h' <=? l then push 3 (SW (sadd a (sneg b)) (l - h') (h - l')) r else None
  | MUL, SW a l h :: SW b l' h' :: r =>
      if (0 <=? l) && (0 <=? l') && (h * h' <? W) then
        match product T a b (hints s) with
        | Some (c, hs) => Some (5, S (SW c (l * l') (h * h') :: r) (smem s) (smw s) hs)
        | None => None
        end
      else None
  | MOD, SW a l h :: m :: r => if is_p m then push 5 (SW a 0 (p - 1)) r else None
  | ADDMOD, SW a l h :: SW b l' h' :: m :: r => if is_p m then push 8 (SW (sadd a b) 0 (p - 1)) r else None
  | MULMOD, SW a l h :: SW b l' h' :: m :: r =>
      if is_p m then
        match product T a b (hints s) with
        | Some (c, hs) => Some (8, S (SW c 0 (p - 1) :: r) (smem s) (smw s) hs)
        | None => None
        end
      else None
  | ISZERO, x :: r => match iszero x with Some c => push 3 (SB c) r | None => None end
  | LT, x :: y :: r | GT, x :: y :: r | EQ, x :: y :: r | AND, x :: y :: r | OR, x :: y :: r =>
      match sbin i x y with Some z => push 3 z r | None => None end
  | SHR, x :: y :: r =>
      match exactly x with
      | Some n => match shifted n y with Some z => push 3 z r | None => None end
      | None => None
      end
  | CALLDATASIZE, k => push 2 SSize k
  | CALLDATALOAD, x :: r =>
      match exactly x, hints s with
      | Some off, h :: hs =>
          if existsb (fun '(i, o) => Pos.eqb i h && (o =? off)) P
          then Some (3, S (SRaw h :: r) (smem s) (smw s) hs) else None
      | _, _ => None
      end
  | MLOAD, x :: r =>
      match slot_of x with
      | Some (a, key) =>
          (* What has not been written is zero. *)
          let w := match M.find key (smem s) with Some w => w | None => SW [] 0 0 end in
          let mw := grown (smw s) a 32 in
          Some (3 + (cmem mw - cmem (smw s)), S (w :: r) (smem s) mw (hints s))
      | None => None
      end
  | MSTORE, x :: w :: r =>
      match slot_of x with
      | Some (a, key) =>
          let mw := grown (smw s) a 32 in
          Some (3 + (cmem mw - cmem (smw s)), S r (M.add key w (smem s)) mw (hints s))
      | None => None
      end
  | MCOPY, x :: y :: z :: r =>
      match slot_of x, slot_of y, exactly z with
      | Some (a, to), Some (b, from), Some n =>
          match whole n with
          | Some k =>
              let mw := grown (grown (smw s) a n) b n in
              Some (3 + 3 * words n + (cmem mw - cmem (smw s)), S r (stored (smem s) to (loaded (smem s) from k)) mw (hints s))
          | None => None
          end
      | _, _, _ => None
      end
  | JUMPDEST, k => Some (1, S k (smem s) (smw s) (hints s))
  | _, _ => None
  end.

(* A sum by its name, or as its negative, if it is what is named. *)
Definition renamed (T : tables) (f : option positive) (a : sum) : option sum :=
  match f with
  | None => Some a
  | Some i =>
      match M.find i (defs T) with
      | Some d => if seqb a d then Some [(i, 1)] else if seqb (sneg a) d then Some [(i, p - 1)] else None
      | None => None
      end
  end.

(* The word on top by its name. *)
Definition named (T : tables) (f : option positive) (s : sstate) : option sstate :=
  match f, sstack s with
  | None, _ => Some s
  | _, SW a lo hi :: r =>
      match renamed T f a with Some a => Some (S (SW a lo hi :: r) (smem s) (smw s) (hints s)) | None => None end
  | _, _ => None
  end.

(* After the check a parse is an element. *)
Definition checked (c : cond) (k : list sword) : list sword :=
  match c with
  | CNotBelow i => map (fun x => match x with SRaw j => if Pos.eqb i j then SW [(i, 1)] 0 (p - 1) else x | _ => x end) k
  | _ => k
  end.

(* True if memory from a slot on has these values, canonical. *)
Fixpoint returns (T : tables) (m : M.t sword) (key : positive) (l : list positive) : bool :=
  match l with
  | [] => true
  | i :: l =>
      match M.find key m, M.find i (sums T) with
      | Some (SW s lo hi), Some s' => seqb s s' && (0 <=? lo) && (hi <? p) && returns T m (Pos.succ key) l
      | _, _ => false
      end
  end.

Variable code : list Z.
Variable prog : program.

Definition fails : list cond := CNot (CSize (size prog)) :: map (fun '(i, _) => CNotBelow i) (parses prog).

Definition failing (d : Z) : bool :=
  (0 <=? d) && valid code d &&
  let l := skipn (Z.to_nat d) code in
  match decode l with
  | (JUMPDEST, n) => match decode (skipn n l) with (INVALID, _) => true | _ => false end
  | _ => false
  end.

Definition within (k : list sword) : bool := Z.of_nat (length k) <=? 1024.

(* From the bytes that are left: the gas that all of it takes. *)
Fixpoint run (fuel : nat) (T : tables) (rest : list Z) (done : list cond) (names : list (option positive)) (s : sstate)
  : option Z :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let '(i, n) := decode rest in
      match i, sstack s with
      | JUMPI, d :: SB c :: r =>
          match exactly d with
          | Some d =>
              if failing d && existsb (condeqb c) fails && within r then
                match run fuel T (skipn n rest) (c :: done) names (S (checked c r) (smem s) (smw s) (hints s)) with
                | Some g => Some (10 + g)
                | None => None
                end
              else None
          | None => None
          end
      | RETURN, x :: n :: _ =>
          match slot_of x, exactly n with
          | Some (a, key), Some n =>
              let cost := cmem (grown (smw s) a n) - cmem (smw s) in
              if (n =? 32 * Z.of_nat (length (results prog))) && returns T (smem s) key (results prog)
                 && forallb (fun c => existsb (condeqb c) done) fails && (0 <=? cost)
              then Some cost else None
          | _, _ => None
          end
      | _, _ =>
          match sinstr T (parses prog) i s with
          | Some (cost, s) =>
              let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                                 else (None, names) in
              match named T f s with
              | Some s =>
                  if (0 <=? cost) && within (sstack s) then
                    match run fuel T (skipn n rest) done names s with Some g => Some (cost + g) | None => None end
                  else None
              | None => None
              end
          | None => None
          end
      end
  end.

End Prime.

Definition start_tables (P : program) : tables :=
  Tables (fold_left (fun m '(i, _) => PositiveMap.add i [(i, 1)] m) (parses P) (PositiveMap.empty sum))
         (PositiveMap.empty (sum * sum)) (PositiveMap.empty sum).

(* The witness of a certificate; nothing of it is believed. *)
Record witness := Witness {
  w_values : list positive;              (* of CALLDATALOAD, MUL and MULMOD, in order *)
  w_names : list (option positive)       (* of what arithmetic instructions leave, in order *)
}.

(* Values with names. *)
Definition cuts_of (w : witness) : PositiveMap.t unit :=
  fold_left (fun m i => match i with Some i => PositiveMap.add i tt m | None => m end) (w_names w) (PositiveMap.empty unit).

(* The tables of a program that is well formed. *)
Definition prepared (P : program) (w : witness) : option tables :=
  let p := modulus P in
  if (1 <? p) && (p <? W) && forallb (fun i => existsb (fun o => Pos.eqb (out o) i) (ops P)) (results P) then
    match parses_ascend 2 (parses P) with
    | Some least => if ascends least (ops P) then add_ops p (cuts_of w) (start_tables P) (ops P) else None
    | None => None
    end
  else None.

(* All of it: None, or the gas with which the code is right whatever calldata is. *)
Definition check (P : program) (w : witness) (code : list Z) : option Z :=
  match prepared P w with
  | Some T => run (modulus P) code P (length code) T code [] (w_names w) (S [] (PositiveMap.empty sword) 0 (w_values w))
  | None => None
  end.
