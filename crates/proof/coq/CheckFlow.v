(* The checker of programs with branches and calls. The program is run on symbols first: its paths, each with the facts that
   lead to it and its end, over one list of operations. Then code is run, both ways where it jumps: of each way the paths are
   known that may come there. Hints are those of straight programs. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Flow.
Import ListNotations.
Open Scope Z_scope.

Section Prime.
Variable p : Z.

(* ---- facts ---- *)

Definition fact := (cond * bool)%type.

Definition listed (l m : list positive) : bool := forallb (fun i => existsb (Pos.eqb i) m) l.

(* True of conditions that hold together. *)
Definition same (a b : cond) : bool :=
  match a, b with
  | CZero s, CZero t => seqb s t || seqb (sneg p s) t
  | CNone l, CNone m => listed l m && listed m l
  | _, _ => condeqb a b
  end.

Definition look (F : list fact) (c : cond) : option bool := option_map snd (find (fun f => same c (fst f)) F).

(* A parsed number that is below the modulus, as an element and as bits. *)
Definition other_form (F : list fact) (c : cond) : option cond :=
  match c with
  | CNone [i] => match look F (CNotBelow i) with Some false => Some (CZero [(i, 1)]) | _ => None end
  | CZero [(i, m)] =>
      match look F (CNotBelow i) with Some false => if m =? 1 then Some (CNone [i]) else None | _ => None end
  | _ => None
  end.
Definition look_both (F : list fact) (c : cond) : option bool :=
  match look F c with
  | Some b => Some b
  | None => match other_form F c with Some c => look F c | None => None end
  end.

(* What the facts say of a condition. *)
Fixpoint decide (F : list fact) (c : cond) : option bool :=
  match c with
  | CNot a => option_map negb (decide F a)
  | CAnd a b =>
      match decide F a, decide F b with
      | Some false, _ | _, Some false => Some false
      | Some true, Some true => Some true
      | _, _ => None
      end
  | CZero s => match as_const s with Some k => Some (k mod p =? 0) | None => look_both F c end
  | _ => look_both F c
  end.

(* A condition of which nothing is known, and which this one depends on. *)
Fixpoint unknown (F : list fact) (c : cond) : cond :=
  match c with
  | CNot a => unknown F a
  | CAnd a b => match decide F a with None => unknown F a | Some _ => unknown F b end
  | _ => c
  end.

(* ---- paths of a program ---- *)

(* Its values are operations of one list; nothing in it depends on the path but which of them are needed. *)
Record path := Path { ren : M.t operand; pwords : M.t sword; facts : list fact }.
Record made := Made { next : positive; done : list op }.
(* A path that has come so far, or its end: a failure, or values that it returns. *)
Inductive fin := At (s : path) | End (F : list fact) (o : option (list positive)).

Variable reads : list (positive * Z).

Definition find_read (off : Z) : option positive := option_map fst (find (fun '(_, o) => o =? off) reads).

Fixpoint sym_word (s : path) (x : word) : option sword :=
  match x with
  | Number n => if (0 <=? n) && (n <? W) then Some (SW (const p n) n n) else None
  | Size => Some SSize
  | Calldata off => option_map SRaw (find_read off)
  | Defined w => M.find w (pwords s)
  | Bin i a b => match sym_word s a, sym_word s b with Some x, Some y => sbin p i x y | _, _ => None end
  end.

Definition sym_operand (r : M.t operand) (x : operand) : option operand :=
  match x with V i => M.find i r | C c => if (0 <=? c) && (c <? p) then Some x else None end.
Fixpoint sym_operands (r : M.t operand) (l : list operand) : option (list operand) :=
  match l with
  | [] => Some []
  | x :: l => match sym_operand r x, sym_operands r l with Some x, Some l => Some (x :: l) | _, _ => None end
  end.
Fixpoint sym_moved (to : list positive) (l : list operand) (r : M.t operand) : M.t operand :=
  match to, l with i :: to, x :: l => sym_moved to l (M.add i x r) | _, _ => r end.

Fixpoint sym_ops (l : list op) (g : made) (r : M.t operand) : option (made * M.t operand) :=
  match l with
  | [] => Some (g, r)
  | o :: l =>
      match sym_operand r (left o), sym_operand r (right o) with
      | Some a, Some b =>
          sym_ops l (Made (Pos.succ (next g)) (Op (next g) (what o) a b :: done g)) (M.add (out o) (V (next g)) r)
      | _, _ => None
      end
  end.

Definition learned (s : path) (f : fact) : path := Path (ren s) (pwords s) (f :: facts s).

(* Both ways, unless facts say which. *)
Fixpoint split (fuel : nat) (c : cond) (s : path) : option (list (bool * path)) :=
  match decide (facts s) c with
  | Some b => Some [(b, s)]
  | None =>
      match fuel with
      | O => None
      | Datatypes.S fuel =>
          let a := unknown (facts s) c in
          match split fuel c (learned s (a, true)), split fuel c (learned s (a, false)) with
          | Some l, Some m => Some (l ++ m)
          | _, _ => None
          end
      end
  end.
Definition split_fuel : nat := 16.

Definition split_word (s : path) (x : word) : option (list (bool * path)) :=
  match sym_word s x with
  | Some x => match iszero p x with Some c => split split_fuel c s | None => None end
  | None => None
  end.

Fixpoint each {A} (f : A -> made -> option (made * list fin)) (l : list A) (g : made) : option (made * list fin) :=
  match l with
  | [] => Some (g, [])
  | x :: l =>
      match f x g with
      | Some (g, a) => match each f l g with Some (g, b) => Some (g, a ++ b) | None => None end
      | None => None
      end
  end.

Definition values_of (l : list operand) : option (list positive) :=
  fold_right (fun x r => match x, r with V i, Some r => Some (i :: r) | _, _ => None end) (Some []) l.

Fixpoint sym (b : body) (g : made) (s : path) : option (made * list fin) :=
  match b with
  | Done => Some (g, [At s])
  | Ops l k =>
      match sym_ops l g (ren s) with Some (g, r) => sym k g (Path r (pwords s) (facts s)) | None => None end
  | Move to from k =>
      match sym_operands (ren s) from with
      | Some l => sym k g (Path (sym_moved to l (ren s)) (pwords s) (facts s))
      | None => None
      end
  | Parse i off k =>
      match find_read off with
      | Some r =>
          match split split_fuel (CNotBelow r) s with
          | Some l =>
              each (fun '(fails, s) g =>
                if fails : bool then Some (g, [End (facts s) None])
                else sym k g (Path (M.add i (V r) (ren s)) (pwords s) (facts s))) l g
          | None => None
          end
      | None => None
      end
  | IsZero w x k =>
      match sym_operand (ren s) x with
      | Some x =>
          let c := CZero match x with V i => [(i, 1)] | C c => const p c end in
          sym k g (Path (ren s) (M.add w (SB c) (pwords s)) (facts s))
      | None => None
      end
  | Bind w x k =>
      match sym_word s x with
      | Some x => sym k g (Path (ren s) (M.add w x (pwords s)) (facts s))
      | None => None
      end
  | Need x k =>
      match split_word s x with
      | Some l => each (fun '(zero, s) g => if zero : bool then Some (g, [End (facts s) None]) else sym k g s) l g
      | None => None
      end
  | Branch x t u k =>
      match split_word s x with
      | Some l =>
          each (fun '(zero, s) g =>
            match (if zero : bool then sym u g s else sym t g s) with
            | Some (g, l) => each (fun x g => match x with At s => sym k g s | _ => Some (g, [x]) end) l g
            | None => None
            end) l g
      | None => None
      end
  | Call params args b gives results k =>
      match sym_operands (ren s) args with
      | Some l =>
          match sym b g (Path (sym_moved params l (M.empty operand)) (M.empty sword) (facts s)) with
          | Some (g, l) =>
              each (fun x g =>
                match x with
                | At s' =>
                    match sym_operands (ren s') gives with
                    | Some l => sym k g (Path (sym_moved results l (ren s)) (pwords s) (facts s'))
                    | None => None
                    end
                | _ => Some (g, [x])
                end) l g
          | None => None
          end
      | None => None
      end
  | Return l =>
      match sym_operands (ren s) l with
      | Some l => match values_of l with Some l => Some (g, [End (facts s) (Some l)]) | None => None end
      | None => None
      end
  end.

(* ---- the tables of all paths, where equal values are one atom ---- *)

(* An operation whose value a hint says is an earlier product, or an earlier value with a name. *)
Definition join_op (cuts : M.t unit) (joined : M.t positive) (T : tables) (o : op) : option tables :=
  match M.find (out o) joined with
  | None => add_op p cuts T o
  | Some j =>
      match add_op p (M.empty unit) T o with
      | Some T' =>
          let is_it :=
            match M.find (out o) (products T'), M.find j (products T) with
            | Some (a, b), Some (x, y) => (seqb a x && seqb b y) || (seqb a y && seqb b x)
            | None, _ =>
                match M.find (out o) (sums T'), M.find j (defs T) with Some s, Some d => seqb s d | _, _ => false end
            | _, _ => false
            end in
          if is_it then Some (Tables (M.add (out o) [(j, 1)] (sums T)) (products T) (defs T)) else None
      | None => None
      end
  end.
Fixpoint join_ops (cuts : M.t unit) (joined : M.t positive) (T : tables) (l : list op) : option tables :=
  match l with
  | [] => Some T
  | o :: l => match join_op cuts joined T o with Some T => join_ops cuts joined T l | None => None end
  end.

(* ---- code on all paths ---- *)

(* Of a value its sum. *)
Definition lifted (T : tables) (c : cond) : cond :=
  match c with
  | CZero [(i, m)] => if m =? 1 then match M.find i (sums T) with Some s => CZero s | None => c end else c
  | _ => c
  end.

(* A path of the program: what is true on it, and what it returns, or None for a failure. *)
Definition way := (list fact * option (list positive))%type.

Definition way_of (T : tables) (x : fin) : option way :=
  match x with
  | At _ => None
  | End F goal => Some (map (fun f => (lifted T (fst f), snd f)) F, goal)
  end.
Fixpoint ways_of (T : tables) (l : list fin) : option (list way) :=
  match l with
  | [] => Some []
  | x :: l => match way_of T x, ways_of T l with Some w, Some l => Some (w :: l) | _, _ => None end
  end.

(* The paths on which a condition may hold, or not. *)
Definition where_ (c : cond) (b : bool) (l : list way) : list way :=
  filter (fun w => match decide (fst w) c with Some b' => Bool.eqb b b' | None => true end) l.

(* What is known once a condition holds, or not. *)
Fixpoint told (c : cond) (b : bool) : list fact :=
  match c, b with
  | CNot a, _ => told a (negb b)
  | CAnd a a', true => told a true ++ told a' true
  | _, _ => [(c, b)]
  end.

(* A parse that code has found below the modulus is an element. *)
Definition element (F : list fact) (x : sword) : sword :=
  match x with
  | SRaw i => match look F (CNotBelow i) with Some false => SW [(i, 1)] 0 (p - 1) | _ => x end
  | _ => x
  end.
Definition ready (F : list fact) (i : instr) (s : sstate) : sstate :=
  let n := match i with MOD => 1%nat | _ => 2%nat end in
  if arithmetic i then S (map (element F) (firstn n (sstack s)) ++ skipn n (sstack s)) (smem s) (smw s) (hints s) else s.

Variable code : list Z.

(* Gas, and the hints that are left. *)
Definition spent := (Z * list positive * list (option positive))%type.
Definition plus (cost : Z) (r : option spent) : option spent :=
  match r with Some (g, hs, names) => Some (cost + g, hs, names) | None => None end.

Definition failed (w : way) : bool := match snd w with None => true | Some _ => false end.
Definition returned (T : tables) (m : M.t sword) (key : positive) (n : Z) (w : way) : bool :=
  match snd w with Some l => (n =? 32 * Z.of_nat (length l)) && returns p T m key l | None => false end.

(* From the bytes that are left to the ends of all paths that come here: the gas of the one that takes most. F is what jumps
   have told. Both ways of a jump are taken, if there are paths for them; the hints of the one that goes on come first. *)
Fixpoint walk (fuel : nat) (T : tables) (ways : list way) (F : list fact) (rest : list Z)
  (names : list (option positive)) (s : sstate) : option spent :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let '(i, n) := decode rest in
      match i, sstack s with
      | JUMP, d :: r =>
          match exactly d with
          | Some d =>
              if (0 <=? d) && valid code d && within r then
                plus 8 (walk fuel T ways F (skipn (Z.to_nat d) code) names (S r (smem s) (smw s) (hints s)))
              else None
          | None => None
          end
      | JUMPI, d :: x :: r =>
          match exactly d, iszero p x with
          | Some d, Some c =>
              if within r then
                let on :=
                  match where_ c true ways with
                  | [] => Some (0, hints s, names)
                  | l => walk fuel T l (told c true ++ F) (skipn n rest) names (S r (smem s) (smw s) (hints s))
                  end in
                match on with
                | Some (g, hs, names) =>
                    match where_ c false ways with
                    | [] => Some (10 + g, hs, names)
                    | l =>
                        if (0 <=? d) && valid code d then
                          match walk fuel T l (told c false ++ F) (skipn (Z.to_nat d) code) names (S r (smem s) (smw s) hs) with
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
      | INVALID, _ => if forallb failed ways then Some (0, hints s, names) else None
      | RETURN, x :: n :: _ =>
          match slot_of x, exactly n with
          | Some (a, key), Some n =>
              let cost := cmem (grown (smw s) a n) - cmem (smw s) in
              if forallb (returned T (smem s) key n) ways && (0 <=? cost) then Some (cost, hints s, names) else None
          | _, _ => None
          end
      | _, _ =>
          match sinstr p T reads i (ready F i s) with
          | Some (cost, s) =>
              let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                                 else (None, names) in
              match named p T f s with
              | Some s =>
                  if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T ways F (skipn n rest) names s) else None
              | None => None
              end
          | None => None
          end
      end
  end.

End Prime.

(* Hints of a program with branches: where it reads calldata, how many instructions a path has at most, values that are
   earlier ones, and a witness. *)
Record hints_of_flow := Hints {
  h_reads : list (positive * Z);
  h_steps : Z;
  h_joined : list (positive * positive);
  h_witness : witness
}.

Definition joined_of (h : hints_of_flow) : M.t positive :=
  fold_left (fun m '(i, j) => M.add i j m) (h_joined h) (M.empty positive).

(* The operations of all paths, their tables, and the paths. *)
Definition paths_of (P : flow) (h : hints_of_flow) : option (program * tables * list way) :=
  let p := f_modulus P in
  match parses_ascend 2 (h_reads h) with
  | Some first =>
      match sym p (h_reads h) (f_body P) (Made first []) (Path (M.empty operand) (M.empty sword) []) with
      | Some (g, l) =>
          let Q := Program p 0 (h_reads h) (rev (done g)) [] in
          if (1 <? p) && (p <? W) && ascends first (ops Q) then
            match join_ops p (cuts_of (h_witness h)) (joined_of h) (start_tables Q) (ops Q) with
            | Some T => option_map (fun ways => (Q, T, ways)) (ways_of T l)
            | None => None
            end
          else None
      | None => None
      end
  | None => None
  end.

Definition check_flow (P : flow) (h : hints_of_flow) (code : list Z) : option Z :=
  match paths_of P h with
  | Some (Q, T, ways) =>
      match walk (f_modulus P) (h_reads h) code (Z.to_nat (h_steps h)) T ways [] code (w_names (h_witness h))
              (S [] (M.empty sword) 0 (w_values (h_witness h))) with
      | Some (g, _, _) => Some g
      | None => None
      end
  | None => None
  end.
