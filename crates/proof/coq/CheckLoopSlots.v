(* The checker of programs with a loop, of code with slots: `CheckLoop.v` with the walk of `CheckFlowSlots.v`. A label says what each slot is too. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Slots CheckSlots Flow CheckFlow CheckFlowSlots CheckLoop.
Import ListNotations.
Open Scope Z_scope.

Section Loop.
Variable p : Z.
Variable L : loop.
Variable base : positive.

(* A slot holds an element. *)
Definition slot_place (t : place) : bool :=
  match t with Kept (SW _ _ _) | Carried _ | Any => place_below L base t | _ => false end.
Definition slot_at (n : nat) (t : place) : sum :=
  match word_at p L base n t with SW s _ _ => s | SRaw i => [(i, 1)] | _ => [] end.
Fixpoint slots_at (n i : nat) (l : list place) : M.t sum :=
  match l with [] => M.empty sum | t :: l => M.add (key_of i) (slot_at n t) (slots_at (Datatypes.S n) (Datatypes.S i) l) end.
Definition field_of_label (b : label) : option field :=
  if b_width b =? 0 then None
  else Some (Field (length (b_slots b)) (b_width b) (slots_at (length (b_stack b) + length (b_memory b)) O (b_slots b))).
Definition slots_ok (b : label) : bool :=
  forallb slot_place (b_slots b) && (negb (b_width b =? 0) || Nat.eqb (length (b_slots b)) 0).

Definition state_of_label (b : label) (w : witness) : fstate :=
  FS (S (words_of_label p L base b) (memory_of_label p L base b) (b_mwords b) (w_values w)) (field_of_label b) [] (w_names w).

(* Code that comes to a label. *)
Variable T : tables.
Variable b : label.
Definition arrives_slots (st : fstate) (F : list fact) (q : path) : bool :=
  arrives_at p L T b q (CheckSlots.base st) F &&
  match known st with
  | None => b_width b =? 0
  | Some H =>
      negb (b_width b =? 0) && (width H =? b_width b) && Nat.eqb (count H) (length (b_slots b)) &&
      forallb (fun '(i, t) => fits p L T q (SW (slot H i) 0 (p - 1)) t) (combine (seq 0 (count H)) (b_slots b))
  end.
End Loop.

Section Whole.
Variable next : bool.
Variable P : looped.
Variable h : loop_hints.
Variable code : list Z.
Let p := o_modulus P.
Let L := o_loop P.

Definition walked_slots (names : list named_word) (b : label) (x : program * tables * list way) (hb : part_hints)
  (rest : list Z) (st : fstate) : option Z :=
  let '(Q, T, ways) := x in
  match fwalk p next code (blank next O O code) Q names (at_label code b) (arrives_slots p L T b) (b_gas b)
          (Z.to_nat (s_steps hb)) T ways rest st with
  | Some (g, _, _) => Some g
  | None => None
  end.

Definition before_gas_slots (base : positive) (b : label) : option Z :=
  match before_part P h base with
  | Some x =>
      let w := s_witness (o_first h) in
      walked_slots (s_words (o_first h)) b x (o_first h) code (FS (S [] (M.empty sword) 0 (w_values w)) None [] (w_names w))
  | None => None
  end.
Definition turn_gas_slots (base : positive) (b : label) (hb : part_hints) (to : label) : option Z :=
  match turn_part P h base b hb with
  | Some x =>
      walked_slots (s_words (o_first h) ++ s_words hb) to x hb (skipn (Z.to_nat (b_pc b)) code)
        (state_of_label p L base b (s_witness hb))
  | None => None
  end.

(* Each label to the next one, the last one to itself. *)
Fixpoint turns_ok_slots (base : positive) (l : list (label * part_hints)) : bool :=
  match l with
  | [] => true
  | (b, hb) :: r =>
      let to := match r with (to, _) :: _ => to | [] => b end in
      label_ok L base b && slots_ok L base b && within (words_of_label p L base b)
      && match turn_gas_slots base b hb to with Some g => g <=? b_gas b + o_turn_gas h | None => false end
      && turns_ok_slots base r
  end.

(* Gas without turns. *)
Definition check_loop_slots : option Z :=
  match base_of h, o_labels h with
  | Some base, (b, _) :: _ =>
      if forallb (fun b => between 0 b 255) code && Z.odd p && (1 <? p) && (p <? W) && (0 <=? o_turn_gas h)
         && word_below base (o_count h) && single (o_count h) && turns_ok_slots base (o_labels h)
      then before_gas_slots base b else None
  | _, _ => None
  end.
End Whole.
