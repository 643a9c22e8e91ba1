(* The checker of programs with a loop: what is done before it, and a turn with all that may come after it, each a program with branches.
   Code begins turns at labels. A label says what each word on the stack and in memory is there, in values that the turn is told: those that go from turn to
   turn, the index, and words of which nothing is known. Each label is judged once, for all turns that begin there. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Flow CheckFlow.
Import ListNotations.
Open Scope Z_scope.

(* Of a word where a turn begins: the same as before the loop, a value that goes from turn to turn, the index, or any word. *)
Inductive place := Kept (x : sword) | Carried (j : nat) | Counter | Any.

Record label := Label {
  b_pc : Z;
  b_mwords : Z;
  b_stack : list place;
  b_memory : list (positive * place);
  b_width : Z;                         (* bytes of a slot, or 0 without a context *)
  b_slots : list place;
  b_vals : list (positive * operand);  (* values of the program that are known from before the loop *)
  b_words : list (positive * sword);
  b_facts : list fact;
  b_gas : Z                            (* gas of a turn that begins here is this, and that of a turn *)
}.

(* Hints of the program before the loop, or of a turn: words that are operations on others, how many instructions a path has at most, values that are
   earlier ones, and a witness. *)
Record part_hints := Part {
  s_words : list named_word;
  s_steps : Z;
  s_joined : list (positive * positive);
  s_witness : witness
}.

Record loop_hints := Loops {
  o_reads : list (positive * Z);
  o_count : sword;                     (* turns *)
  o_turn_gas : Z;
  o_first : part_hints;
  o_labels : list (label * part_hints) (* each goes to the next one, the last one to itself *)
}.

Section Loop.
Variable p : Z.
Variable L : loop.
Variable after : body.
Variable reads : list (positive * Z).
Variable count : sword.

(* ---- numbers of values: calldata's first, then what a turn is told, then the turn's own ---- *)

Variable base : positive.              (* the first that a turn is told *)
Definition told_value (n : nat) : positive := Z.to_pos (Z.pos base + Z.of_nat n).
Definition carried : nat := length (l_state L).
Definition counter : positive := told_value carried.
Definition any (n : nat) : positive := told_value (Datatypes.S carried + n).

Definition below (i : positive) : bool := Pos.ltb i base.
Definition sum_below (s : sum) : bool := forallb (fun t => below (fst t)) s.
Fixpoint cond_below (c : cond) : bool :=
  match c with
  | CSize _ => true
  | CNotBelow i | CAbove i _ => below i
  | CNot c => cond_below c
  | CZero s => sum_below s
  | CNone l => forallb below l
  | CAnd a b => cond_below a && cond_below b
  end.
Definition word_below (x : sword) : bool :=
  match x with
  | SW s _ _ => sum_below s
  | SRaw i => below i
  | SSize => true
  | SB c => cond_below c
  | SOr l _ => forallb below l
  | SPart s _ => sum_below s
  end.
Definition operand_below (x : operand) : bool := match x with V i => below i | C _ => true end.

Definition wordeqb (x y : sword) : bool :=
  match x, y with
  | SW s l h, SW t l' h' => seqb s t && (l =? l') && (h =? h')
  | SRaw i, SRaw j => Pos.eqb i j
  | SSize, SSize => true
  | SB c, SB d => condeqb c d
  | SOr l n, SOr m k => positives l m && (n =? k)
  | _, _ => false
  end.
Definition operandeqb (x y : operand) : bool :=
  match x, y with V i, V j => Pos.eqb i j | C c, C d => c =? d | _, _ => false end.

(* True of what is one number. *)
Definition single (x : sword) : bool :=
  match x with SRaw _ => true | SSize => true | _ => match exactly x with Some _ => true | None => false end end.

(* ---- a label ---- *)

(* The word at a place, of so many places before it. *)
Definition word_at (n : nat) (x : place) : sword :=
  match x with
  | Kept x => x
  | Carried j => SW [(told_value j, 1)] 0 (p - 1)
  | Counter => SRaw counter
  | Any => SRaw (any n)
  end.
Fixpoint words_at (n : nat) (l : list place) : list sword :=
  match l with [] => [] | x :: l => word_at n x :: words_at (Datatypes.S n) l end.
Fixpoint memory_at (n : nat) (l : list (positive * place)) : M.t sword :=
  match l with [] => M.empty sword | (key, x) :: l => M.add key (word_at n x) (memory_at (Datatypes.S n) l) end.

Definition words_of_label (b : label) : list sword := words_at O (b_stack b).
Definition memory_of_label (b : label) : M.t sword := memory_at (length (b_stack b)) (b_memory b).
Definition places_of_label (b : label) : nat := length (b_stack b) + length (b_memory b) + length (b_slots b).
Definition top_of_label (b : label) : positive := any (places_of_label b).

Definition path_of_label (b : label) : path :=
  Path (sym_moved (l_state L) (map (fun j => V (told_value j)) (seq 0 carried))
          (fold_right (fun t m => M.add (fst t) (snd t) m) (M.empty operand) (b_vals b)))
       (M.add (l_index L) (SRaw counter) (fold_right (fun t m => M.add (fst t) (snd t) m) (M.empty sword) (b_words b)))
       (b_facts b).

(* True of what holds at a label whatever comes before it: values from before the loop are all that it speaks of. *)
Definition place_below (x : place) : bool := match x with Kept x => word_below x | Carried j => Nat.ltb j carried | _ => true end.
Definition label_ok (b : label) : bool :=
  forallb place_below (b_stack b) && forallb (fun t => place_below (snd t)) (b_memory b)
  && forallb (fun t => operand_below (snd t)) (b_vals b) && forallb (fun t => word_below (snd t)) (b_words b)
  && forallb (fun t => cond_below (fst t)) (b_facts b) && (0 <=? b_gas b) && (0 <=? b_pc b).

(* ---- code that comes to a label ---- *)

Section Arrival.
Variable T : tables.
Variable b : label.
Variable q : path.                     (* of the program, with the values and the index of the next turn *)

Definition is_element (x : sword) (y : operand) : bool :=
  match x with
  | SRaw r => match y with V i => Pos.eqb i r | C _ => false end
  | SW s lo hi =>
      (0 <=? lo) && (hi <? p) && match of_operand p T y with Some t => seqb s t | None => false end
  | _ => false
  end.
Definition fits (x : sword) (t : place) : bool :=
  match t with
  | Kept y => wordeqb x y
  | Carried j =>
      match nth_error (l_state L) j with
      | Some v => match M.find v (ren q) with Some y => is_element x y | None => false end
      | None => false
      end
  | Counter => match M.find (l_index L) (pwords q) with Some y => wordeqb x y && single x | None => false end
  | Any => true
  end.
Fixpoint all_fit (l : list sword) (m : list place) : bool :=
  match l, m with [], [] => true | x :: l, t :: m => fits x t && all_fit l m | _, _ => false end.

Definition arrives_at (s : sstate) (F : list fact) : bool :=
  (smw s =? b_mwords b) && all_fit (sstack s) (b_stack b)
  && forallb (fun t => fits (match M.find (fst t) (smem s) with Some x => x | None => SW [] 0 0 end) (snd t)) (b_memory b)
  && forallb (fun t => existsb (fun u => Pos.eqb (fst u) (fst t)) (b_memory b)) (M.elements (smem s))
  && forallb (fun t => match M.find (fst t) (ren q) with Some y => operandeqb y (snd t) | None => false end) (b_vals b)
  && forallb (fun t => match M.find (fst t) (pwords q) with Some y => wordeqb y (snd t) | None => false end) (b_words b)
  && forallb (fun t => match decide p F (fst t) with Some v => Bool.eqb v (snd t) | None => false end) (b_facts b)
  && forallb (fun v => match M.find v (ren q) with Some _ => true | None => false end) (l_state L)
  && match M.find (l_index L) (pwords q) with Some _ => true | None => false end.
End Arrival.

Definition at_label (code : list Z) (b : label) (rest : list Z) : bool :=
  (0 <? Z.of_nat (length rest)) && (Z.of_nat (length rest) =? Z.of_nat (length code) - b_pc b).

(* ---- the program before the loop, and a turn ---- *)

Variable wnames : list named_word.

Definition turned_path (l : list operand) (x : sword) (s : path) : path :=
  Path (sym_moved (l_state L) l (ren s)) (M.add (l_index L) x (pwords s)) (facts s).

(* What comes after the last turn. *)
Definition leave (l : list operand) (g : made) (s : path) : option (made * list fin) :=
  let r := sym_moved (l_state L) l (ren s) in
  match sym_operands p r (map V (l_state L)) with
  | Some l => sym p reads wnames after g (Path (sym_moved (l_results L) l r) (pwords s) (facts s))
  | None => None
  end.

(* The end where the condition holds, or the next turn, whose index this is. *)
Definition onward (c : cond) (l : list operand) (x : sword) (g : made) (s : path) : option (made * list fin) :=
  match split p split_fuel c s with
  | Some ways =>
      each (fun '(ends, s) g => if ends : bool then leave l g s else Some (g, [End (facts s) (Again (turned_path l x s))])) ways g
  | None => None
  end.

Definition enter (x : fin) (g : made) : option (made * list fin) :=
  match x with
  | End _ _ => Some (g, [x])
  | At s =>
      match sym_word p reads wnames s (l_count L), sym_operands p (ren s) (l_first L), iszero p count with
      | Some y, Some l, Some c => if wordeqb y count then onward c l (SW [] 0 0) g s else None
      | _, _, _ => None
      end
  end.

Definition one_word : sword := SW (const p 1) 1 1.
(* The index of the next turn, and the condition that there is none. *)
Definition next_index : option sword := sym_bin p wnames ADD one_word (SRaw counter).
Definition none_left : option cond :=
  match next_index with
  | Some x => match sym_bin p wnames LT x count with Some y => iszero p y | None => None end
  | None => None
  end.
Definition repeated (x : fin) (g : made) : option (made * list fin) :=
  match x with
  | End _ _ => Some (g, [x])
  | At s =>
      match sym_operands p (ren s) (l_gives L), next_index, none_left with
      | Some l, Some x, Some c => onward c l x g s
      | _, _, _ => None
      end
  end.

Definition whole_of (b : body) (go : fin -> made -> option (made * list fin)) (s : path) (g : made) : option (made * list fin) :=
  match sym p reads wnames b g s with Some (g, l) => each go l g | None => None end.

(* Operations of all paths from here on, their tables, and the paths. Words are atoms, and what a turn is told. *)
Definition atoms (l : list positive) (m : M.t sum) : M.t sum := fold_left (fun m i => M.add i [(i, 1)] m) l m.
Definition part_of_loop (names : list named_word) (told : list positive) (top : positive) (h : part_hints)
  (run : made -> option (made * list fin)) : option (program * tables * list way) :=
  match run (Made top []) with
  | Some (g, l) =>
      let Q := Program p 0 reads (rev (done g)) [] in
      if ascends top (ops Q) then
        let T := start_tables Q in
        let T := Tables (atoms (map fst names ++ told) (sums T)) (products T) (defs T) in
        match join_ops p (cuts_of (s_witness h)) (fold_left (fun m '(i, j) => M.add i j m) (s_joined h) (M.empty positive)) T (ops Q) with
        | Some T => option_map (fun ways => (Q, T, ways)) (ways_of T l)
        | None => None
        end
      else None
  | None => None
  end.
End Loop.

(* ---- all of it ---- *)

Section Whole.
Variable P : looped.
Variable h : loop_hints.
Let p := o_modulus P.
Let L := o_loop P.

(* The first value that a turn is told. *)
Definition base_of : option positive :=
  match parses_ascend 2 (o_reads h) with Some first => words_ascend first (s_words (o_first h)) | None => None end.

Definition before_part (base : positive) : option (program * tables * list way) :=
  let names := s_words (o_first h) in
  part_of_loop p (o_reads h) names [] base (o_first h)
    (whole_of p (o_reads h) names (o_before P) (enter p L (o_after P) (o_reads h) (o_count h) names) (Path (M.empty operand) (M.empty sword) [])).

(* The values that a turn is told, in order. *)
Definition told_values (base : positive) (b : label) : list positive :=
  map (told_value base) (seq 0 (Datatypes.S (carried L) + places_of_label b)).

Definition turn_part (base : positive) (b : label) (hb : part_hints) : option (program * tables * list way) :=
  match words_ascend (top_of_label L base b) (s_words hb) with
  | Some top =>
      let names := s_words (o_first h) ++ s_words hb in
      part_of_loop p (o_reads h) names (told_values base b) top hb
        (whole_of p (o_reads h) names (l_turn L) (repeated p L (o_after P) (o_reads h) (o_count h) base names) (path_of_label L base b))
  | None => None
  end.

Variable code : list Z.

(* Gas of a part, whose turns go to a label. *)
Definition walked (names : list named_word) (b : label) (x : program * tables * list way) (hb : part_hints)
  (F : list fact) (rest : list Z) (s : list sword) (m : M.t sword) (mw : Z) : option Z :=
  let '(_, T, ways) := x in
  match walk p (o_reads h) names code (at_label code b) (fun s F q => arrives_at p L T b q s F) (b_gas b)
          (Z.to_nat (s_steps hb)) T ways F rest (w_names (s_witness hb)) (S s m mw (w_values (s_witness hb))) with
  | Some (g, _, _) => Some g
  | None => None
  end.

Definition before_gas (base : positive) (b : label) : option Z :=
  match before_part base with
  | Some x => walked (s_words (o_first h)) b x (o_first h) [] code [] (M.empty sword) 0
  | None => None
  end.
Definition turn_gas (base : positive) (b : label) (hb : part_hints) (to : label) : option Z :=
  match turn_part base b hb with
  | Some x =>
      walked (s_words (o_first h) ++ s_words hb) to x hb (b_facts b) (skipn (Z.to_nat (b_pc b)) code)
        (words_of_label p L base b) (memory_of_label p L base b) (b_mwords b)
  | None => None
  end.

(* Each label to the next one, the last one to itself. *)
Fixpoint turns_ok (base : positive) (l : list (label * part_hints)) : bool :=
  match l with
  | [] => true
  | (b, hb) :: r =>
      let to := match r with (to, _) :: _ => to | [] => b end in
      label_ok L base b && within (words_of_label p L base b)
      && match turn_gas base b hb to with Some g => g <=? b_gas b + o_turn_gas h | None => false end
      && turns_ok base r
  end.

(* Gas without turns. *)
Definition check_loop : option Z :=
  match base_of, o_labels h with
  | Some base, (b, _) :: _ =>
      if (1 <? p) && (p <? W) && (0 <=? o_turn_gas h) && word_below base (o_count h) && single (o_count h) && turns_ok base (o_labels h)
      then before_gas base b else None
  | _, _ => None
  end.
End Whole.
