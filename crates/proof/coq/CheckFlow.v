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

(* A number below the modulus has no more bits than that. *)
Definition look_above (F : list fact) (i : positive) (n : Z) : option bool :=
  match look F (CNotBelow i) with Some false => if p <=? 2 ^ n then Some false else None | _ => None end.

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
  | CAbove i n => match look_both F c with Some b => Some b | None => look_above F i n end
  | _ => look_both F c
  end.

(* A condition of which nothing is known, and which this one depends on. *)
Fixpoint unknown (F : list fact) (c : cond) : cond :=
  match c with
  | CNot a => unknown F a
  | CAnd a b => match decide F a with None => unknown F a | Some _ => unknown F b end
  | _ => c
  end.

(* ---- words that are values: each an operation on two words ---- *)

(* A word that an operation reads: a number, calldata's size, a value as it is, or bits of several without the lowest n.
   CALLDATALOAD has beside the offset how many bytes more than a word are read. *)
Inductive part := PNum (n : Z) | PSize | PRead (i : positive) | PBits (l : list positive) (n : Z).
Definition named_word := (positive * (instr * part * part))%type.

Definition part_of (x : sword) : option part :=
  match x with
  | SSize => Some PSize
  | SRaw i => Some (PRead i)
  | SOr l n => Some (PBits l n)
  | _ => option_map PNum (exactly x)
  end.

Fixpoint positives (l m : list positive) : bool :=
  match l, m with [], [] => true | i :: l, j :: m => Pos.eqb i j && positives l m | _, _ => false end.
Definition parteqb (a b : part) : bool :=
  match a, b with
  | PNum n, PNum m => n =? m
  | PSize, PSize => true
  | PRead i, PRead j => Pos.eqb i j
  | PBits l n, PBits m k => positives l m && (n =? k)
  | _, _ => false
  end.

(* Gas of an operation on two words, with a number of its own; those whose operands may be exchanged, and what it is then. *)
Definition word_op (i : instr) : option (Z * Z) :=
  match i with
  | ADD => Some (1, 3) | MUL => Some (2, 5) | SUB => Some (3, 3) | LT => Some (4, 3) | GT => Some (5, 3) | EQ => Some (6, 3)
  | AND => Some (7, 3) | OR => Some (8, 3) | SHR => Some (9, 3)
  | DIV => Some (10, 5) | MOD => Some (11, 5) | _ => None
  end.
Definition instr_eqb (i j : instr) : bool :=
  match i, j with
  | CALLDATALOAD, CALLDATALOAD => true
  | _, _ => match word_op i, word_op j with Some (n, _), Some (m, _) => n =? m | _, _ => false end
  end.
Definition turned (i : instr) : option instr :=
  match i with LT => Some GT | GT => Some LT | ADD | MUL | EQ | AND | OR => Some i | _ => None end.

Section Words.
Variable names : list named_word.
Definition found (i : instr) (a b : part) : option positive :=
  option_map fst (find (fun '(_, (j, c, d)) => instr_eqb i j && parteqb a c && parteqb b d) names).
Definition word_of (i : instr) (x y : sword) : option sword :=
  match word_op i, part_of x, part_of y with
  | Some _, Some a, Some b =>
      match found i a b with
      | Some h => Some (SRaw h)
      | None => match turned i with Some j => option_map SRaw (found j b a) | None => None end
      end
  | _, _, _ => None
  end.

(* An operation of a program. *)
Definition known_bin (i : instr) (x y : sword) : option sword :=
  match i with
  | SHR => match exactly x with Some n => shifted n y | None => None end
  | _ => sbin p i x y
  end.
Definition sym_bin (i : instr) (x y : sword) : option sword :=
  match known_bin i x y with Some z => Some z | None => word_of i x y end.

(* The word of calldata at the offset that another one is. *)
Definition at_word (x : sword) : option positive :=
  match part_of x with Some a => found CALLDATALOAD a (PNum 0) | None => None end.

(* True where two elements are equal. *)
Definition equal (i : instr) (x y : sword) : option sword :=
  match i, x, y with
  | EQ, SW a lo hi, SW b lo' hi' =>
      if (0 <=? lo) && (hi <? p) && (0 <=? lo') && (hi' <? p) then Some (SB (CZero (sadd p a (sneg p b)))) else None
  | _, _, _ => None
  end.

(* An instruction on words that are no elements, or whether elements are equal: what is known of words makes them elements. *)
Definition word_step (known : sword -> sword) (i : instr) (s : sstate) : option (Z * sstate) :=
  let over cost x r := Some (cost, S (x :: r) (smem s) (smw s) (hints s)) in
  match i with
  | CALLDATALOAD =>
      match sstack s with x :: r => match at_word x with Some h => over 3 (SRaw h) r | None => None end | [] => None end
  | _ =>
      match word_op i with
      | Some (_, cost) =>
          match sstack s with
          | x :: y :: r =>
              match word_of i x y with
              | Some z => over cost z r
              | None => match equal i (known x) (known y) with Some z => over cost z r | None => None end
              end
          | _ => None
          end
      | None => None
      end
  end.
End Words.

(* What is taken mod p may be any word. *)
Definition modular (i : instr) : nat := match i with MOD => 1 | ADDMOD | MULMOD => 2 | _ => 0 end.
Definition wide (x : sword) : sword := match x with SRaw i => SW [(i, 1)] 0 (W - 1) | _ => x end.
Definition widened (i : instr) (s : sstate) : sstate :=
  let n := modular i in S (map wide (firstn n (sstack s)) ++ skipn n (sstack s)) (smem s) (smw s) (hints s).

(* ---- paths of a program ---- *)

(* Its values are operations of one list; nothing in it depends on the path but which of them are needed. *)
Record path := Path { ren : M.t operand; pwords : M.t sword; facts : list fact }.
Record made := Made { next : positive; done : list op }.
(* An end: a failure, values that are returned, the truth of a condition, or the next turn of a loop with what is known there. *)
Inductive goal := Fails | Returns (l : list positive) | Tells (c : cond) | Again (s : path)
| ReturnsBytes (n : Z) (l : list positive). (* values of n bytes each *)
(* A path that has come so far, or its end. *)
Inductive fin := At (s : path) | End (F : list fact) (o : goal).

Variable reads : list (positive * Z).
Variable wnames : list named_word.

Definition find_read (off : Z) : option positive := option_map fst (find (fun '(_, o) => o =? off) reads).

Fixpoint sym_word (s : path) (x : word) : option sword :=
  match x with
  | Number n => if (0 <=? n) && (n <? W) then Some (SW (const p n) n n) else None
  | Size => Some SSize
  | Calldata off => option_map SRaw (find_read off)
  | Defined w => M.find w (pwords s)
  | Bin i a b => match sym_word s a, sym_word s b with Some x, Some y => sym_bin wnames i x y | _, _ => None end
  end.

(* The value that calldata has at an offset. *)
Definition sym_offset (s : path) (x : word) : option positive :=
  match sym_word s x with
  | Some y => match exactly y with Some off => find_read off | None => at_word wnames y end
  | None => None
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
                if fails : bool then Some (g, [End (facts s) Fails])
                else sym k g (Path (M.add i (V r) (ren s)) (pwords s) (facts s))) l g
          | None => None
          end
      | None => None
      end
  | Reduce i x k =>
      match sym_word s x with
      | Some (SRaw r) =>
          sym k (Made (Pos.succ (next g)) (Op (next g) KAdd (V r) (C 0) :: done g))
            (Path (M.add i (V (next g)) (ren s)) (pwords s) (facts s))
      | _ => None
      end
  | ParseAt i x k =>
      match sym_offset s x with
      | Some r =>
          match split split_fuel (CNotBelow r) s with
          | Some l =>
              each (fun '(fails, s) g =>
                if fails : bool then Some (g, [End (facts s) Fails])
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
      | Some l => each (fun '(zero, s) g => if zero : bool then Some (g, [End (facts s) Fails]) else sym k g s) l g
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
      | Some l => match values_of l with Some l => Some (g, [End (facts s) (Returns l)]) | None => None end
      | None => None
      end
  | ReturnWord x => match sym_word s x with Some (SB c) => Some (g, [End (facts s) (Tells c)]) | _ => None end
  | ParseBytes i off n k =>
      match (if 32 <=? n then found wnames CALLDATALOAD (PNum off) (PNum (n - 32)) else None) with
      | Some r =>
          match split split_fuel (CNotBelow r) s with
          | Some l =>
              each (fun '(fails, s) g =>
                if fails : bool then Some (g, [End (facts s) Fails])
                else sym k g (Path (M.add i (V r) (ren s)) (pwords s) (facts s))) l g
          | None => None
          end
      | None => None
      end
  | ReturnBytes n l =>
      match sym_operands (ren s) l with
      | Some l => match values_of l with Some l => Some (g, [End (facts s) (ReturnsBytes n l)]) | None => None end
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

(* A path of the program: what is true on it, and its end. *)
Definition way := (list fact * goal)%type.

Definition way_of (T : tables) (x : fin) : option way :=
  match x with
  | At _ => None
  | End F o =>
      Some (map (fun f => (lifted T (fst f), snd f)) F, match o with Tells c => Tells (lifted T c) | _ => o end)
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

Definition failed (w : way) : bool := match snd w with Fails => true | _ => false end.
Definition returned (T : tables) (m : M.t sword) (key : positive) (n : Z) (w : way) : bool :=
  match snd w with
  | Returns l => (n =? 32 * Z.of_nat (length l)) && returns p T m key l
  | Tells c => (n =? 32) && match M.find key m with Some (SB c') => same c c' | _ => false end
  | _ => false
  end.

(* True where code from these bytes on is a loop's next turn; true of code's words if they are those that a turn begins with, on a path that goes there; and
   the gas from there on. *)
Variable turn_at : list Z -> bool.
Variable arrives : sstate -> list fact -> path -> bool.
Variable after : Z.
Definition again (w : way) : bool := match snd w with Again _ => true | _ => false end.
Definition comes (s : sstate) (w : way) : bool := match snd w with Again q => arrives s (fst w) q | _ => false end.

(* From the bytes that are left to the ends of all paths that come here: the gas of the one that takes most. F is what jumps
   have told. Both ways of a jump are taken, if there are paths for them; the hints of the one that goes on come first. *)
Fixpoint walk (fuel : nat) (T : tables) (ways : list way) (F : list fact) (rest : list Z)
  (names : list (option positive)) (s : sstate) : option spent :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let '(i, n) := decode rest in
      let plain :=
        match sinstr p T reads i (widened i (ready F i s)) with
        | Some (cost, s) =>
            let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                               else (None, names) in
            match named p T f s with
            | Some s =>
                if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T ways F (skipn n rest) names s) else None
            | None => None
            end
        | None =>
            match word_step wnames (element F) i s with
            | Some (cost, s) => if within (sstack s) then plus cost (walk fuel T ways F (skipn n rest) names s) else None
            | None => None
            end
        end in
      match i, sstack s with
      | JUMPDEST, _ =>
          if forallb again ways && turn_at rest then if forallb (comes s) ways then Some (after, hints s, names) else None else plain
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
      | _, _ => plain
      end
  end.

End Prime.

(* Hints of a program with branches: where it reads calldata, words that are operations on others, how many instructions a path has at most, values that are
   earlier ones, and a witness. *)
Record hints_of_flow := Hints {
  h_reads : list (positive * Z);
  h_words : list named_word;
  h_steps : Z;
  h_joined : list (positive * positive);
  h_witness : witness
}.

Definition joined_of (h : hints_of_flow) : M.t positive :=
  fold_left (fun m '(i, j) => M.add i j m) (h_joined h) (M.empty positive).

(* Each word is defined once, after all that it reads: the number after all of them. *)
Definition before (i : positive) (a : part) : bool :=
  match a with
  | PNum n => (0 <=? n) && (n <? W)
  | PSize => true
  | PRead j => Pos.ltb j i
  | PBits l n => forallb (fun j => Pos.ltb j i) l && (0 <=? n)
  end.
Fixpoint words_ascend (least : positive) (l : list named_word) : option positive :=
  match l with
  | [] => Some least
  | (i, (_, a, b)) :: l =>
      if Pos.leb least i && before i a && before i b then words_ascend (Pos.succ i) l else None
  end.

(* Words are atoms, as what is parsed is. *)
Definition flow_tables (Q : program) (l : list named_word) : tables :=
  let T := start_tables Q in
  Tables (fold_left (fun m '(i, _) => M.add i [(i, 1)] m) l (sums T)) (products T) (defs T).

(* The operations of all paths, their tables, and the paths. *)
Definition all_paths (P : flow) (h : hints_of_flow) : option (program * tables * list way) :=
  let p := f_modulus P in
  match match parses_ascend 2 (h_reads h) with Some first => words_ascend first (h_words h) | None => None end with
  | Some first =>
      match sym p (h_reads h) (h_words h) (f_body P) (Made first []) (Path (M.empty operand) (M.empty sword) []) with
      | Some (g, l) =>
          let Q := Program p 0 (h_reads h) (rev (done g)) [] in
          if (1 <? p) && ascends first (ops Q) then
            match join_ops p (cuts_of (h_witness h)) (joined_of h) (flow_tables Q (h_words h)) (ops Q) with
            | Some T => option_map (fun ways => (Q, T, ways)) (ways_of T l)
            | None => None
            end
          else None
      | None => None
      end
  | None => None
  end.

(* The same of a modulus that is a word. *)
Definition paths_of (P : flow) (h : hints_of_flow) : option (program * tables * list way) :=
  if f_modulus P <? W then all_paths P h else None.

Definition check_flow (P : flow) (h : hints_of_flow) (code : list Z) : option Z :=
  match paths_of P h with
  | Some (Q, T, ways) =>
      match walk (f_modulus P) (h_reads h) (h_words h) code (fun _ => false) (fun _ _ _ => false) 0 (Z.to_nat (h_steps h)) T ways [] code (w_names (h_witness h))
              (S [] (M.empty sword) 0 (w_values (h_witness h))) with
      | Some (g, _, _) => Some g
      | None => None
      end
  | None => None
  end.
