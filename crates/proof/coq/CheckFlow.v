(* The checker of programs with branches and calls. The program is run on symbols first: its paths, each with the facts that
   lead to it and its end, over one list of operations. Then code is run from its first byte for each path, where the facts say
   which way its jumps go. Paths have hints as straight programs do. *)
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
  | CZero s => match as_const s with Some k => Some (k mod p =? 0) | None => look F c end
  | _ => look F c
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

(* ---- code on a path ---- *)

(* Of a value its sum. *)
Definition lifted (T : tables) (c : cond) : cond :=
  match c with
  | CZero [(i, m)] => if m =? 1 then match M.find i (sums T) with Some s => CZero s | None => c end else c
  | _ => c
  end.

(* A parse that is below the modulus is an element. *)
Definition element (F : list fact) (x : sword) : sword :=
  match x with
  | SRaw i => match decide F (CNotBelow i) with Some false => SW [(i, 1)] 0 (p - 1) | _ => x end
  | _ => x
  end.
Definition ready (F : list fact) (i : instr) (s : sstate) : sstate :=
  if arithmetic i then S (map (element F) (firstn 3 (sstack s)) ++ skipn 3 (sstack s)) (smem s) (smw s) (hints s) else s.

Variable code : list Z.

Definition plus (cost : Z) (r : option Z) : option Z := option_map (Z.add cost) r.

(* From the bytes that are left to the end of the path: the gas that it takes. *)
Fixpoint walk (fuel : nat) (T : tables) (F : list fact) (goal : option (list positive)) (rest : list Z)
  (names : list (option positive)) (s : sstate) : option Z :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let '(i, n) := decode rest in
      let jump d r :=
        if (0 <=? d) && valid code d && within r
        then walk fuel T F goal (skipn (Z.to_nat d) code) names (S r (smem s) (smw s) (hints s)) else None in
      let pass r := if within r then walk fuel T F goal (skipn n rest) names (S r (smem s) (smw s) (hints s)) else None in
      match i, sstack s with
      | JUMP, d :: r => match exactly d with Some d => plus 8 (jump d r) | None => None end
      | JUMPI, d :: x :: r =>
          match exactly d, iszero p x with
          | Some d, Some c =>
              match decide F c, goal with
              | Some false, _ => plus 10 (jump d r)
              | Some true, _ => plus 10 (pass r)
              (* Where the program fails, code may fail for any reason. *)
              | None, None => if failing code d then plus 10 (pass r) else None
              | None, Some _ => None
              end
          | _, _ => None
          end
      | INVALID, _ => match goal with None => Some 0 | Some _ => None end
      | RETURN, x :: n :: _ =>
          match slot_of x, exactly n, goal with
          | Some (a, key), Some n, Some l =>
              let cost := cmem (grown (smw s) a n) - cmem (smw s) in
              if (n =? 32 * Z.of_nat (length l)) && returns p T (smem s) key l && (0 <=? cost) then Some cost else None
          | _, _, _ => None
          end
      | _, _ =>
          match sinstr p T reads i (ready F i s) with
          | Some (cost, s) =>
              let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                                 else (None, names) in
              match named p T f s with
              | Some s =>
                  if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T F goal (skipn n rest) names s) else None
              | None => None
              end
          | None => None
          end
      end
  end.

(* All paths, each with its hints: the gas of the one that takes most. *)
Fixpoint walks (fuel : nat) (T : tables) (l : list fin) (ws : list witness) : option Z :=
  match l, ws with
  | [], [] => Some 0
  | End F goal :: l, w :: ws =>
      let F := map (fun f => (lifted T (fst f), snd f)) F in
      match walk fuel T F goal code (w_names w) (S [] (M.empty sword) 0 (w_values w)), walks fuel T l ws with
      | Some g, Some h => Some (Z.max g h)
      | _, _ => None
      end
  | _, _ => None
  end.

End Prime.

(* Hints of a program with branches: where it reads calldata, how many instructions a path has at most, and a witness of each. *)
Record hints_of_flow := Hints { h_reads : list (positive * Z); h_steps : Z; h_paths : list witness }.

Definition check_flow (P : flow) (h : hints_of_flow) (code : list Z) : option Z :=
  let p := f_modulus P in
  match parses_ascend 2 (h_reads h) with
  | Some first =>
      match sym p (h_reads h) (f_body P) (Made first []) (Path (M.empty operand) (M.empty sword) []) with
      | Some (g, l) =>
          match prepared (Program p 0 (h_reads h) (rev (done g)) []) (Witness [] (flat_map w_names (h_paths h))) with
          | Some T => walks p (h_reads h) code (Z.to_nat (h_steps h)) T l (h_paths h)
          | None => None
          end
      | None => None
      end
  | None => None
  end.
