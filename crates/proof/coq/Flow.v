(* Programs with branches, calls and several ends, and with a loop, and their meaning. Values and words are positive numbers; a function has its own. *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm Program.
Import ListNotations.
Open Scope Z_scope.

Inductive word := Number (n : Z) | Size | Calldata (off : Z) | Defined (w : positive) | Bin (i : instr) (a b : word).

(* Statements, each with what comes after it. *)
Inductive body :=
| Done
| Ops (l : list op) (k : body)
| Move (to : list positive) (from : list operand) (k : body)      (* all at once *)
| Parse (i : positive) (off : Z) (k : body)                       (* 32 bytes, below the modulus *)
| Reduce (i : positive) (x : word) (k : body)                     (* a word mod p *)
| ParseAt (i : positive) (x : word) (k : body)                    (* at the offset that a word is *)
| IsZero (w : positive) (x : operand) (k : body)
| Bind (w : positive) (x : word) (k : body)
| Need (x : word) (k : body)                                      (* require *)
| Branch (x : word) (t u k : body)                                (* t where the word is not zero, then k *)
| Call (params : list positive) (args : list operand) (b : body) (gives : list operand) (results : list positive) (k : body)
| Return (l : list operand)                                       (* return_elements, 32 bytes each *)
| ReturnWord (x : word)
| ParseBytes (i : positive) (off n : Z) (k : body)                (* n bytes, below the modulus *)
| ReturnBytes (n : Z) (l : list operand).                         (* return_elements, n bytes each *)

Record flow := Flow { f_modulus : Z; f_body : body }.

Record frame := Frame { vals : env; wrds : env }.
Definition blank_frame : frame := Frame (fun _ => 0) (fun _ => 0).

Fixpoint word_value (cd : list Z) (ws : env) (x : word) : Z :=
  match x with
  | Number n => n
  | Size => Z.of_nat (length cd)
  | Calldata off => cdword cd off
  | Defined w => ws w
  | Bin i a b => bin i (word_value cd ws a) (word_value cd ws b)
  end.

Fixpoint moved (to : list positive) (vs : list Z) (e : env) : env :=
  match to, vs with i :: to, v :: vs => moved to vs (set e i v) | _, _ => e end.

(* The frame after it, or the end of the program. *)
Fixpoint mean (p : Z) (cd : list Z) (b : body) (f : frame) : frame + outcome :=
  match b with
  | Done => inl f
  | Ops l k => mean p cd k (Frame (eval_ops p l (vals f)) (wrds f))
  | Move to from k => mean p cd k (Frame (moved to (map (read (vals f)) from) (vals f)) (wrds f))
  | Parse i off k =>
      if cdword cd off <? p then mean p cd k (Frame (set (vals f) i (cdword cd off)) (wrds f)) else inr Failed
  | Reduce i x k => mean p cd k (Frame (set (vals f) i (word_value cd (wrds f) x mod p)) (wrds f))
  | ParseAt i x k =>
      let v := cdword cd (word_value cd (wrds f) x) in
      if v <? p then mean p cd k (Frame (set (vals f) i v) (wrds f)) else inr Failed
  | IsZero w x k => mean p cd k (Frame (vals f) (set (wrds f) w (b2z (read (vals f) x =? 0))))
  | Bind w x k => mean p cd k (Frame (vals f) (set (wrds f) w (word_value cd (wrds f) x)))
  | Need x k => if word_value cd (wrds f) x =? 0 then inr Failed else mean p cd k f
  | Branch x t u k =>
      match (if word_value cd (wrds f) x =? 0 then mean p cd u f else mean p cd t f) with
      | inl f => mean p cd k f
      | inr o => inr o
      end
  | Call params args b gives results k =>
      match mean p cd b (Frame (moved params (map (read (vals f)) args) (fun _ => 0)) (fun _ => 0)) with
      | inl g => mean p cd k (Frame (moved results (map (read (vals g)) gives) (vals f)) (wrds f))
      | inr o => inr o
      end
  | Return l => inr (Returned (concat (map (fun x => bytes_of 32 (read (vals f) x)) l)))
  | ReturnWord x => inr (Returned (bytes_of 32 (word_value cd (wrds f) x)))
  | ParseBytes i off n k =>
      let v := cdnumber cd off n in
      if v <? p then mean p cd k (Frame (set (vals f) i v) (wrds f)) else inr Failed
  | ReturnBytes n l => inr (Returned (concat (map (fun x => bytes_of (Z.to_nat n) (read (vals f) x)) l)))
  end.

(* Certificates speak of no program that ends without a return: nothing is said of it. *)
Definition flow_meaning (P : flow) (cd : list Z) : outcome :=
  match mean (f_modulus P) cd (f_body P) blank_frame with inl _ => Unknown | inr o => o end.

(* ---- a loop between two such programs ---- *)

Record loop := Loop {
  l_count : word;              (* turns *)
  l_index : positive;          (* the word that counts them, from 0 on *)
  l_state : list positive;     (* values that go from turn to turn *)
  l_first : list operand;      (* their first ones *)
  l_turn : body;
  l_gives : list operand;      (* those of the next turn *)
  l_results : list positive    (* the last ones, for what comes after the loop *)
}.
Record looped := Looped { o_modulus : Z; o_before : body; o_loop : loop; o_after : body }.

Definition with_index (L : loop) (i : Z) (f : frame) : frame := Frame (vals f) (set (wrds f) (l_index L) i).
Definition with_state (L : loop) (l : list operand) (f : frame) : frame :=
  Frame (moved (l_state L) (map (read (vals f)) l) (vals f)) (wrds f).
Definition with_results (L : loop) (f : frame) : frame :=
  Frame (moved (l_results L) (map (vals f) (l_state L)) (vals f)) (wrds f).

(* So many turns, the first of this index. *)
Fixpoint turns (p : Z) (cd : list Z) (L : loop) (n : nat) (i : Z) (f : frame) : frame + outcome :=
  match n with
  | O => inl f
  | S n =>
      match mean p cd (l_turn L) (with_index L i f) with
      | inl g => turns p cd L n (i + 1) (with_state L (l_gives L) g)
      | inr o => inr o
      end
  end.

Definition end_of (r : frame + outcome) : outcome := match r with inl _ => Unknown | inr o => o end.

Definition looped_meaning (P : looped) (cd : list Z) : outcome :=
  let '(p, L) := (o_modulus P, o_loop P) in
  match mean p cd (o_before P) blank_frame with
  | inr o => o
  | inl f =>
      match turns p cd L (Z.to_nat (word_value cd (wrds f) (l_count L))) 0 (with_state L (l_first L) f) with
      | inr o => o
      | inl f => end_of (mean p cd (o_after P) (with_results L f))
      end
  end.

(* Turns that calldata asks for: none where the program ends before its loop. *)
Definition turns_of (P : looped) (cd : list Z) : Z :=
  match mean (o_modulus P) cd (o_before P) blank_frame with
  | inl f => word_value cd (wrds f) (l_count (o_loop P))
  | inr _ => 0
  end.
