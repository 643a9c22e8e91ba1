(* A checker of programs of words and scratch memory: program and code are gone through side by side. Each word that is computed, on either side, has a
   number, the same for the same operation on the same words; at each write to scratch memory, and wherever the program branches, both are compared. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Hashing Bytes.
Import ListNotations.
Open Scope Z_scope.

Module M := PositiveMap.

(* A number, or the word of a node. *)
Inductive operand := Num (z : Z) | Atom (i : positive).
(* A way to compute a word; g is a state of scratch memory. *)
Inductive node :=
| NOp (f : fn) (a b c : operand) | NSize | NCalldata (a : operand) | NScratch (g : positive) (a : operand)
| NHash (g : positive) (a n : operand).

Definition eqo (a b : operand) : bool :=
  match a, b with Num x, Num y => x =? y | Atom i, Atom j => Pos.eqb i j | _, _ => false end.
Definition number_of (f : fn) : Z :=
  match f with
  | FAdd => 0 | FSub => 1 | FMul => 2 | FDiv => 3 | FMod => 4 | FLt => 5 | FEq => 6 | FAnd => 7 | FOr => 8 | FXor => 9
  | FShl => 10 | FShr => 11 | FByte => 12 | FAddMod => 13 | FMulMod => 14
  end.
Definition eqf (f g : fn) : bool := number_of f =? number_of g.
Definition eqn (m n : node) : bool :=
  match m, n with
  | NOp f a b c, NOp g a' b' c' => eqf f g && eqo a a' && eqo b b' && eqo c c'
  | NSize, NSize => true
  | NCalldata a, NCalldata b => eqo a b
  | NScratch g a, NScratch h b => Pos.eqb g h && eqo a b
  | NHash g a n, NHash h b m => Pos.eqb g h && eqo a b && eqo n m
  | _, _ => false
  end.

(* Nodes by number; a number for each key, which is not believed; the next one; numbers that words are not above. *)
Record table := Table { nodes : M.t node; places : M.t positive; next : positive; limits : M.t Z }.
Definition blank : table := Table (M.empty node) (M.empty positive) 2 (M.empty Z).

Definition mixed (h x : Z) : Z := Z.land (h * 1000003 + x) 1099511627775.
Definition part (a : operand) : Z := match a with Num z => 2 * Z.land z 4194303 + Z.land (Z.shiftr z 200) 4194303 | Atom i => 2 * Z.pos i + 1 end.
Definition key (n : node) : positive :=
  Z.to_pos (1 + match n with
                | NOp f a b c => mixed (mixed (mixed (number_of f) (part a)) (part b)) (part c)
                | NSize => 20
                | NCalldata a => mixed 21 (part a)
                | NScratch g a => mixed (mixed 22 (Z.pos g)) (part a)
                | NHash g a n => mixed (mixed (mixed 23 (Z.pos g)) (part a)) (part n)
                end).

Definition fresh (T : table) (n : node) : operand * table :=
  (Atom (next T), Table (M.add (next T) n (nodes T)) (M.add (key n) (next T) (places T)) (Pos.succ (next T)) (limits T)).
Definition intern (T : table) (n : node) : operand * table :=
  match M.find (key n) (places T) with
  | Some i => match M.find i (nodes T) with Some m => if eqn m n && Pos.ltb i (next T) then (Atom i, T) else fresh T n | None => fresh T n end
  | None => fresh T n
  end.

(* Operands that may be exchanged have numbers first, then the earlier word. *)
Definition commutes (f : fn) : bool :=
  match f with FAdd | FMul | FEq | FAnd | FOr | FXor | FAddMod | FMulMod => true | _ => false end.
Definition ordered (a b : operand) : bool :=
  match a, b with Num _, _ => true | Atom i, Atom j => Pos.leb i j | Atom _, Num _ => false end.
Definition operation (T : table) (f : fn) (a b c : operand) : operand * table :=
  match a, b, c with
  | Num x, Num y, Num z => (Num (apply f x y z), T)
  | _, _, _ => if commutes f && negb (ordered a b) then intern T (NOp f b a c) else intern T (NOp f a b c)
  end.

Definition limit (T : table) (i : positive) : Z := match M.find i (limits T) with Some z => z | None => W - 1 end.
(* No more than this. *)
Fixpoint most (fuel : nat) (T : table) (a : operand) : Z :=
  match fuel, a with
  | _, Num z => z
  | O, _ => W - 1
  | S fuel, Atom i => Z.min (limit T i)
      match M.find i (nodes T) with
      | Some (NOp FAnd a b _) => Z.min (most fuel T a) (most fuel T b)
      | Some (NOp FMod _ (Num m) _) => if 0 <? m then m - 1 else W - 1
      | Some (NOp FMul a b _) => Z.min (W - 1) (most fuel T a * most fuel T b)
      | Some (NOp FAdd a b _) => Z.min (W - 1) (most fuel T a + most fuel T b)
      | Some (NOp FShr (Num n) a _) => if n <? 256 then Z.shiftr (most fuel T a) n else 0
      | Some (NOp FShl (Num n) a _) => if (0 <=? n) && (n <? 256) then Z.min (W - 1) (most fuel T a * 2 ^ n) else W - 1
      | Some (NOp FOr a b _) | Some (NOp FXor a b _) => 2 ^ (Z.log2 (Z.max (most fuel T a) (most fuel T b)) + 1) - 1
      | Some (NOp FByte _ _ _) => 255
      | Some (NOp FLt _ _ _) | Some (NOp FEq _ _ _) => 1
      | _ => W - 1
      end
  end.
Definition greatest := most 8.

(* What is known of words where a condition is not zero. *)
Fixpoint limited (fuel : nat) (T : table) (a : operand) : table :=
  match fuel, a with
  | S fuel, Atom i =>
      match M.find i (nodes T) with
      | Some (NOp FAnd a b _) => limited fuel (limited fuel T a) b
      | Some (NOp FLt (Atom j) (Num z) _) =>
          if 0 <? z then Table (nodes T) (places T) (next T) (M.add j (Z.min (z - 1) (limit T j)) (limits T)) else T
      | _ => T
      end
  | _, _ => T
  end.

(* The number of which it is zero where the word is not, with false, or the word itself. *)
Fixpoint truth (fuel : nat) (T : table) (a : operand) : bool * operand :=
  match fuel, a with
  | S fuel, Atom i =>
      match M.find i (nodes T) with
      | Some (NOp FEq (Num 0) b _) => let '(t, x) := truth fuel T b in (negb t, x)
      | _ => (true, a)
      end
  | _, _ => (true, a)
  end.

(* What a word is if another one is a number: sums, products and masks of it. *)
Fixpoint given (fuel : nat) (T : table) (c : operand) (k : Z) (a : operand) : option Z :=
  if eqo a c then Some k
  else match fuel, a with
  | _, Num z => Some z
  | O, _ => None
  | S fuel, Atom i =>
      match M.find i (nodes T) with
      | Some (NOp FAnd (Num m) (Atom j) _) =>
          (* The same bits, not shifted so far. *)
          match M.find j (nodes T), c with
          | Some (NOp FShr (Num n) x _), Atom i' =>
              match M.find i' (nodes T) with
              | Some (NOp FAnd (Num m') (Atom j') _) =>
                  match M.find j' (nodes T) with
                  | Some (NOp FShr (Num n') x' _) =>
                      if eqo x x' && (0 <=? n) && (n <=? n') && (n' <? 256) && (0 <=? m') && (m =? m' * 2 ^ (n' - n)) then Some (k * 2 ^ (n' - n)) else None
                  | _ => None
                  end
              | _ => None
              end
          | _, _ => None
          end
      | Some (NOp f a b d) =>
          match given fuel T c k a, given fuel T c k b, given fuel T c k d with
          | Some a, Some b, Some d => Some (apply f a b d)
          | _, _, _ => None
          end
      | _ => None
      end
  end.

(* Where code is; its stack; words of memory beside scratch memory; the words of the program; the state and bytes of scratch memory; words of
   memory that are paid for. *)
Record sym := Sym {
  tb : table; at_ : Z; rest : list Z; stk : list operand; cells : list (Z * operand); known : list (positive * operand);
  gen : positive; room : Z; smw : Z }.

Definition with_table (s : sym) (T : table) : sym := Sym T (at_ s) (rest s) (stk s) (cells s) (known s) (gen s) (room s) (smw s).
Definition bind (s : sym) (w : positive) (o : operand) : sym :=
  Sym (tb s) (at_ s) (rest s) (stk s) (cells s) ((w, o) :: filter (fun '(v, _) => negb (Pos.eqb v w)) (known s)) (gen s) (room s) (smw s).
(* Code goes on after n bytes. *)
Definition onward (s : sym) (n : nat) (k : list operand) (c : list (Z * operand)) (mw : Z) (T : table) : sym :=
  Sym T (at_ s + Z.of_nat n) (skipn n (rest s)) k c (known s) (gen s) (room s) mw.

Fixpoint lookup {A} (w : positive) (l : list (positive * A)) : option A :=
  match l with [] => None | (v, o) :: l => if Pos.eqb v w then Some o else lookup w l end.
Fixpoint cell (a : Z) (l : list (Z * operand)) : option operand :=
  match l with [] => None | (b, o) :: l => if b =? a then Some o else cell a l end.
(* The word at an address: one that is kept there, or parts of two that touch there. *)
Definition kept (T : table) (z : Z) (l : list (Z * operand)) : option (operand * table) :=
  match cell z l, find (fun '(b, _) => (b <? z) && (z <? b + 32)) l with
  | Some o, _ => Some (o, T)
  | None, Some (b, x) =>
      match cell (b + 32) l with
      | Some y =>
          let '(p, T) := operation T FShl (Num (8 * (z - b))) x (Num 0) in
          let '(q, T) := operation T FShr (Num (256 - 8 * (z - b))) y (Num 0) in
          Some (operation T FOr p q (Num 0))
      | None => None
      end
  | None, None => None
  end.
(* Another word at a place: in the same list, as long as no other word has a part of it. *)
Definition put (a : Z) (o : operand) (l : list (Z * operand)) : list (Z * operand) :=
  if existsb (fun '(b, _) => b =? a) l then map (fun '(b, p) => if b =? a then (b, o) else (b, p)) l else l ++ [(a, o)].
Definition apart (a : Z) (l : list (Z * operand)) : bool :=
  forallb (fun '(b, _) => (b =? a) || (a + 32 <=? b) || (b + 32 <=? a)) l.

(* Scratch memory has these bytes, which are paid for wherever they are. *)
Definition has_room (T : table) (n : Z) (a : operand) (size : Z) : bool := (0 <=? size) && (greatest T a + size <=? n).
Definition reach (T : table) (mw : Z) (a : operand) (n : Z) : option Z :=
  match a with
  | Num a => Some (grown mw a n)
  | Atom _ => if grown mw (greatest T a) n <=? mw then Some mw else None
  end.

Section Code.
Variable code : list Z.

(* The word of an expression of the program. *)
Fixpoint interp (s : sym) (T : table) (x : expr) : option (operand * table) :=
  match x with
  | ENum n => if (0 <=? n) && (n <? W) then Some (Num n, T) else None
  | ESize => Some (intern T NSize)
  | ECalldata x => match interp s T x with Some (a, T) => Some (intern T (NCalldata a)) | None => None end
  | EScratch x =>
      match interp s T x with
      | Some (a, T) => if has_room T (room s) a 32 then Some (intern T (NScratch (gen s) a)) else None
      | None => None
      end
  | EWord w => match lookup w (known s) with Some o => Some (o, T) | None => None end
  | EOp f a b c =>
      match interp s T a with
      | Some (a, T) =>
          match interp s T b with
          | Some (b, T) => match interp s T c with Some (c, T) => Some (operation T f a b c) | None => None end
          | None => None
          end
      | None => None
      end
  end.

Fixpoint interps (s : sym) (T : table) (l : list expr) : option (list operand * table) :=
  match l with
  | [] => Some ([], T)
  | x :: l =>
      match interp s T x with
      | Some (o, T) => match interps s T l with Some (l, T) => Some (o :: l, T) | None => None end
      | None => None
      end
  end.

Definition fn_of (i : instr) : option fn :=
  match i with
  | ADD => Some FAdd | MUL => Some FMul | SUB => Some FSub | DIV => Some FDiv | MOD => Some FMod
  | LT => Some FLt | EQ => Some FEq | AND => Some FAnd | OR => Some FOr | SHR => Some FShr | _ => None
  end.
Definition price (f : fn) : Z := match f with FMul | FDiv | FMod => 5 | FAddMod | FMulMod => 8 | _ => 3 end.

(* A word takes the place of the first n on the stack. *)
Definition pushed (s : sym) (cost : Z) (n : nat) (k : list operand) (r : operand * table) : option (sym * Z) :=
  Some (onward s n (fst r :: k) (cells s) (smw s) (snd r), cost).

Definition jump (s : sym) (d : Z) (k : list operand) : option sym :=
  if (0 <=? d) && valid code d
  then Some (Sym (tb s) d (skipn (Z.to_nat d) code) k (cells s) (known s) (gen s) (room s) (smw s)) else None.

(* Instructions of words and bytes that have no effect on scratch memory. *)
Definition byte_silent (i : byte_instr) (s : sym) : option (sym * Z) :=
  let T := tb s in
  match i, stk s with
  | XOR, a :: b :: r => pushed s 3 1 r (operation T FXor a b (Num 0))
  | BYTE, a :: b :: r => pushed s 3 1 r (operation T FByte a b (Num 0))
  | SHL, a :: b :: r => pushed s 3 1 r (operation T FShl a b (Num 0))
  | KECCAK256, a :: Num n :: r =>
      if has_room T (room s) a n then
        match reach T (smw s) a n with
        | Some mw =>
            let '(o, T) := intern T (NHash (gen s) a (Num n)) in
            Some (onward s 1 (o :: r) (cells s) mw T, 30 + 6 * words n + (cmem mw - cmem (smw s)))
        | None => None
        end
      else None
  | _, _ => None
  end.

Definition silent (s : sym) : option (sym * Z) :=
  let T := tb s in
  match byte_decode (rest s) with
  | Some i => byte_silent i s
  | None =>
      let '(i, n) := decode (rest s) in
      match i, stk s with
      | PUSH m v, k => if (0 <=? v) && (v <? W) then pushed s (if m then 2 else 3) n k (Num v, T) else None
      | DUP m, k => match nth_error k m with Some x => pushed s 3 n k (x, T) | None => None end
      | SWAP m, x :: r =>
          match nth_error r m with Some y => Some (onward s n (y :: upd m x r) (cells s) (smw s) T, 3) | None => None end
      | POP, _ :: r => Some (onward s n r (cells s) (smw s) T, 2)
      | JUMPDEST, k => Some (onward s n k (cells s) (smw s) T, 1)
      | CALLDATASIZE, k => pushed s 2 n k (intern T NSize)
      | CALLDATALOAD, a :: r => pushed s 3 n r (intern T (NCalldata a))
      | ISZERO, a :: r => pushed s 3 n r (operation T FEq (Num 0) a (Num 0))
      | NOT, a :: r => pushed s 3 n r (operation T FSub (Num (W - 1)) a (Num 0))
      | GT, a :: b :: r => pushed s 3 n r (operation T FLt b a (Num 0))
      | ADDMOD, a :: b :: c :: r => pushed s 8 n r (operation T FAddMod a b c)
      | MULMOD, a :: b :: c :: r => pushed s 8 n r (operation T FMulMod a b c)
      | MLOAD, a :: r =>
          match reach T (smw s) a 32 with
          | Some mw =>
              let cost := 3 + (cmem mw - cmem (smw s)) in
              match a with
              | Num z =>
                  match kept T z (cells s) with
                  | Some (o, T) => Some (onward s n (o :: r) (cells s) mw T, cost)
                  | None =>
                      if has_room T (room s) a 32 then
                        let '(o, T) := intern T (NScratch (gen s) a) in Some (onward s n (o :: r) (cells s) mw T, cost)
                      else None
                  end
              | _ =>
                  if has_room T (room s) a 32 then
                    let '(o, T) := intern T (NScratch (gen s) a) in Some (onward s n (o :: r) (cells s) mw T, cost)
                  else None
              end
          | None => None
          end
      | MSTORE, Num a :: o :: r =>
          if (room s <=? a) && (0 <=? a) && apart a (cells s) then
            let mw := grown (smw s) a 32 in
            Some (onward s n r (put a o (cells s)) mw T, 3 + (cmem mw - cmem (smw s)))
          else None
      | JUMP, Num d :: r => match jump s d r with Some s => Some (s, 8) | None => None end
      | _, a :: b :: r => match fn_of i with Some f => pushed s (price f) n r (operation T f a b (Num 0)) | None => None end
      | _, _ => None
      end
  end.

(* Instructions up to one that scratch memory or the program's branches have to do with, or up to a place. *)
Fixpoint sync (fuel : nat) (stop : Z) (s : sym) : sym * Z :=
  match fuel with
  | O => (s, 0)
  | S fuel =>
      if at_ s =? stop then (s, 0)
      else match silent s with
           | Some (s', cost) =>
               if (0 <=? cost) && (Z.of_nat (length (stk s')) <=? 1024)
               then let '(s', more) := sync fuel stop s' in (s', cost + more) else (s, 0)
           | None => (s, 0)
           end
  end.

(* Scratch memory is another one. *)
Definition renewed (s : sym) : sym :=
  let T := tb s in
  Sym (Table (nodes T) (places T) (Pos.succ (next T)) (limits T)) (at_ s) (rest s) (stk s) (cells s) (known s) (next T) (room s) (smw s).

Variable fuel : nat.
Definition event (s : sym) : sym * Z := sync fuel (-1) s.

Definition fits (k : list operand) : bool := Z.of_nat (length k) <=? 1024.

(* The write of a program, whose words are these, by code. *)
Definition store (s : sym) (a x : operand) : option (sym * Z) :=
  let '(s, g) := event s in
  match byte_decode (rest s), decode (rest s), stk s with
  | None, (MSTORE, n), b :: y :: r =>
      match reach (tb s) (smw s) a 32 with
      | Some mw =>
          if eqo a b && eqo x y && has_room (tb s) (room s) a 32 && (0 <=? cmem mw - cmem (smw s)) && fits r
          then Some (renewed (onward s n r (cells s) mw (tb s)), g + (3 + (cmem mw - cmem (smw s)))) else None
      | None => None
      end
  | _, _, _ => None
  end.
Definition store_byte (s : sym) (a x : operand) : option (sym * Z) :=
  let '(s, g) := event s in
  match byte_decode (rest s), stk s with
  | Some MSTORE8, b :: y :: r =>
      match reach (tb s) (smw s) a 1 with
      | Some mw =>
          if eqo a b && eqo x y && has_room (tb s) (room s) a 1 && (0 <=? cmem mw - cmem (smw s)) && fits r
          then Some (renewed (onward s 1 r (cells s) mw (tb s)), g + (3 + (cmem mw - cmem (smw s)))) else None
      | None => None
      end
  | _, _ => None
  end.
Definition copy (s : sym) (a from : operand) (size : Z) : option (sym * Z) :=
  let '(s, g) := event s in
  match byte_decode (rest s), stk s with
  | Some CALLDATACOPY, b :: y :: Num m :: r =>
      match reach (tb s) (smw s) a size with
      | Some mw =>
          if eqo a b && eqo from y && (m =? size) && (0 <=? words size) && has_room (tb s) (room s) a size && (0 <=? cmem mw - cmem (smw s)) && fits r
          then Some (renewed (onward s 1 r (cells s) mw (tb s)), g + (3 + 3 * words size + (cmem mw - cmem (smw s)))) else None
      | None => None
      end
  | _, _ => None
  end.

(* Code where a word of the program is not zero, and where it is zero. *)
Definition fork (s : sym) (x : operand) : option (sym * sym * Z) :=
  let '(s, g) := event s in
  match byte_decode (rest s), decode (rest s), stk s with
  | None, (JUMPI, n), Num d :: c :: r =>
      match jump s d r with
      | Some taken =>
          let passed := onward s n r (cells s) (smw s) (tb s) in
          let '(t, x) := truth 8 (tb s) x in
          let '(u, c) := truth 8 (tb s) c in
          if eqo x c && fits r then Some (if Bool.eqb t u then (taken, passed, g + 10) else (passed, taken, g + 10)) else None
      | None => None
      end
  | _, _, _ => None
  end.

(* Code fails here. *)
Definition fails (s : sym) : option Z :=
  let '(s, g) := event s in
  match byte_decode (rest s), decode (rest s) with None, (INVALID, _) => Some g | _, _ => None end.

(* Words that are kept in a row from an address on. *)
Fixpoint in_row (a : Z) (l : list operand) (c : list (Z * operand)) : bool :=
  match l with [] => true | x :: l => match cell a c with Some o => eqo o x && in_row (a + 32) l c | None => false end end.
Definition return_words (s : sym) (l : list operand) : option Z :=
  let '(s, g) := event s in
  match byte_decode (rest s), decode (rest s), stk s with
  | None, (RETURN, _), Num a :: Num m :: _ =>
      let cost := cmem (grown (smw s) a m) - cmem (smw s) in
      if (m =? 32 * Z.of_nat (length l)) && in_row a l (cells s) && (0 <=? cost) then Some (g + cost) else None
  | _, _, _ => None
  end.
(* What a return of scratch memory costs, if it is all within: from a number on, or up to one. *)
Definition return_cost (s : sym) (a n : operand) : option Z :=
  let T := tb s in
  match a, n with
  | Num a, Num n =>
      if (0 <=? a) && has_room T (room s) (Num a) n then Some (cmem (grown (smw s) a n) - cmem (smw s)) else None
  | Atom i, n =>
      match M.find i (nodes T) with
      | Some (NOp FSub (Num z) m _) =>
          if eqo m n && (greatest T n <=? z) && (z <=? room s) && (grown (smw s) 0 z <=? smw s) then Some 0 else None
      | _ => None
      end
  | _, _ => None
  end.
Definition return_scratch (s : sym) (a n : operand) : option Z :=
  let '(s, g) := event s in
  match byte_decode (rest s), decode (rest s), stk s, return_cost s a n with
  | None, (RETURN, _), b :: m :: _, Some cost => if eqo a b && eqo n m && (0 <=? cost) then Some (g + cost) else None
  | _, _, _, _ => None
  end.

Definition eq_list {A} (f : A -> A -> bool) (k l : list A) : bool :=
  Nat.eqb (length k) (length l) && forallb (fun '(a, b) => f a b) (combine k l).
(* The same as where turns begin, but for the place, what has been computed and scratch memory. *)
Definition alike (s t : sym) : bool :=
  eq_list eqo (stk s) (stk t) && eq_list (fun '(a, o) '(b, p) => (a =? b) && eqo o p) (cells s) (cells t)
  && forallb (fun '(w, o) => match lookup w (known t) with Some p => eqo o p | None => false end) (known s)
  && (room s =? room t) && (smw s =? smw t).
(* Another place, and what is known now. *)
Definition entered (s : sym) (d : Z) (T : table) : sym :=
  renewed (Sym T d (skipn (Z.to_nat d) code) (stk s) (cells s) (known s) (gen s) (room s) (smw s)).

(* The head of a loop: its place and the memory that is paid for there; each word of the stack, of memory and of the program there: the same as where
   the loop is entered, one of the words that change, the number of the turn, or that less the number of turns, by which code may count up to zero.
   Not believed. *)
Inductive kind := Same | New (j : positive) | Index | Left.
Record head := Head { spot : Z; paid : Z; to_zero : bool; on_stack : list kind; on_cells : list kind; on_known : list (positive * kind); news : positive }.

Definition word_of (b : positive) (index left : operand) (k : kind) (o : operand) : operand :=
  match k with Same => o | New j => Atom (b + j) | Index => index | Left => left end.
Definition shaped {A} (b : positive) (index left : operand) (ks : list kind) (l : list (A * operand)) : list (A * operand) :=
  map (fun '(k, (a, o)) => (a, word_of b index left k o)) (combine ks l).
Definition small (most : positive) (ks : list kind) : bool := forallb (fun k => match k with New j => Pos.ltb j most | _ => true end) ks.
(* The words of the program that are known there. *)
Fixpoint named (ws : list (positive * kind)) (l : list (positive * operand)) : list (positive * operand) :=
  match ws with [] => [] | (w, _) :: ws => match lookup w l with Some o => (w, o) :: named ws l | None => named ws l end end.

(* Code and program at the head in any turn. The number of the turn is one modulo that of the turns. *)
Definition general_with (h : head) (w : positive) (s : sym) (index : operand) (r : operand * table) : sym :=
  let b := next (tb s) in
  bind (Sym (snd r) (spot h) (skipn (Z.to_nat (spot h)) code)
    (map snd (shaped b index (fst r) (on_stack h) (map (pair tt) (stk s)))) (shaped b index (fst r) (on_cells h) (cells s))
    (shaped b index (fst r) (map snd (on_known h)) (named (on_known h) (known s))) b (room s) (paid h)) w index.
Definition roomy (T : table) (n : positive) : table := Table (nodes T) (places T) (next T + n) (limits T).
Definition general (h : head) (w : positive) (c : operand) (s : sym) : operand * operand * sym :=
  let r := intern (roomy (tb s) (news h)) (NOp FMod (Atom (next (tb s))) c (Num 0)) in
  let d := operation (snd r) FSub (fst r) c (Num 0) in (fst r, fst d, general_with h w s (fst r) d).

(* Words that change are the same wherever they are. *)
Fixpoint fit (index left : operand) (l : list (kind * (operand * operand))) (th : list (positive * operand)) : option (list (positive * operand)) :=
  match l with
  | [] => Some th
  | (Same, (o, q)) :: l => if eqo o q then fit index left l th else None
  | (Index, (_, q)) :: l => if eqo index q then fit index left l th else None
  | (Left, (_, q)) :: l => if eqo left q then fit index left l th else None
  | (New j, (_, q)) :: l =>
      match lookup j th with
      | Some p => if eqo p q then fit index left l th else None
      | None => fit index left l ((j, q) :: th)
      end
  end.
(* Words of both states, each with its kind: s is where the loop is entered. *)
Definition facing (h : head) (s t : sym) : list (kind * (operand * operand)) :=
  combine (on_stack h) (combine (stk s) (stk t)) ++ combine (on_cells h) (combine (map snd (cells s)) (map snd (cells t)))
  ++ combine (map snd (on_known h)) (combine (map snd (named (on_known h) (known s))) (map snd (named (on_known h) (known t)))).
(* A turn may begin here, with this number. *)
Definition begins (h : head) (s t : sym) (index left : operand) : bool :=
  (at_ t =? spot h) && (room s =? room t) && (smw t <=? paid h)
  && eq_list Z.eqb (map fst (cells s)) (map fst (cells t))
  && Nat.eqb (length (stk t)) (length (stk s)) && Nat.eqb (length (on_stack h)) (length (stk s))
  && Nat.eqb (length (on_cells h)) (length (cells s)) && eq_list Pos.eqb (map fst (named (on_known h) (known t))) (map fst (on_known h))
  && eq_list Pos.eqb (map fst (named (on_known h) (known s))) (map fst (on_known h))
  && small (news h) (on_stack h ++ on_cells h ++ map snd (on_known h))
  && match fit index left (facing h s t) [] with Some _ => true | None => false end.

(* The turns of a countdown: the word that is counted, how code is at each of them but for the place, the place of each, and the next number. *)
Record turning := Turning { counted : positive; base : sym; place : Z -> option Z; number : Z }.

(* The most gas of a turn of a loop whose number of turns is no number; heads of loops, by the word that is the number of a turn. *)
Variable turn : Z.
Variable heads : list (positive * head).

(* Code gets to the head of a loop. *)
Definition enter (h : head) (c : operand) (s : sym) : option (sym * Z) :=
  let '(s, g) := sync fuel (spot h) s in
  let '(d, T) := operation (tb s) FSub (Num 0) c (Num 0) in
  let s := with_table s T in
  let cost := cmem (paid h) - cmem (smw s) in
  if begins h s s (Num 0) d && (0 <=? cost) then Some (s, g + cost) else None.
(* After a turn: to the head again, if there are more turns, or how code goes on. *)
Definition again (h : head) (s : sym) (c index left : operand) (u : sym) : option (sym * Z) :=
  let '(i, T) := operation (tb u) FAdd (Num 1) index (Num 0) in
  let '(d, T) := operation T FAdd (Num 1) left (Num 0) in
  let '(x, T) := if to_zero h then (d, T) else operation T FLt i c (Num 0) in
  match fork (with_table u T) x with
  | Some (t, e, g) => if begins h s t i d && (paid h <=? smw t) then Some (e, g) else None
  | None => None
  end.

(* Code where the loop is left, gas of the way to its head, and of a turn. *)
Definition rounds (walked : sym -> option (option sym * Z)) (w : positive) (c : operand) (h : head) (s : sym) : option (sym * Z * Z) :=
  match enter h c s with
  | Some (s, g) =>
      let '(index, left, s0) := general h w c s in
      match walked s0 with
      | Some (Some u, i) => match again h s c index left u with Some (e, j) => Some (e, g, i + j) | None => None end
      | _ => None
      end
  | None => None
  end.

(* Program and code side by side: how they are at the end, unless they have ended, and the gas that it takes. *)
Fixpoint walk (c : option turning) (b : body) (s : sym) : option (option sym * Z) :=
  let after := fun (r : option (sym * Z)) k =>
    match r with
    | Some (s, g) => match walk None k s with Some (e, h) => Some (e, g + h) | None => None end
    | None => None
    end in
  match c, b with
  | Some c, Turn w j t k =>
      match place c j, place c (j - 1) with
      | Some from, Some to =>
          if Pos.eqb w (counted c) && (j =? number c) && (1 <=? j) && (0 <=? to) then
            match walk None t (entered (base c) from (tb (base c))) with
            | Some (Some s, g) =>
                let '(s, h) := sync fuel to s in
                if (at_ s =? to) && alike (base c) s then
                  match walk (Some (Turning (counted c) (base c) (place c) (j - 1))) k s with
                  | Some (e, i) => Some (e, g + h + i)
                  | None => None
                  end
                else None
            | _ => None
            end
          else None
      | _, _ => None
      end
  | Some c, Done =>
      match place c 0 with
      | Some d => if number c =? 0 then Some (Some (entered (base c) d (tb (base c))), 0) else None
      | None => None
      end
  | Some _, _ => None
  | None, Done => Some (Some s, 0)
  | None, Bind w x k =>
      match interp s (tb s) x with Some (o, T) => walk None k (bind (with_table s T) w o) | None => None end
  | None, Scratch n k =>
      if forallb (fun '(a, _) => n <=? a) (cells s)
      then walk None k (Sym (tb s) (at_ s) (rest s) (stk s) (cells s) (known s) (gen s) (Z.max (room s) n) (smw s)) else None
  | None, SetScratch a x k =>
      match interp s (tb s) a with
      | Some (a, T) => match interp s T x with Some (x, T) => after (store (with_table s T) a x) k | None => None end
      | None => None
      end
  | None, SetByte a x k =>
      match interp s (tb s) a with
      | Some (a, T) => match interp s T x with Some (x, T) => after (store_byte (with_table s T) a x) k | None => None end
      | None => None
      end
  | None, Copy a from n k =>
      match interp s (tb s) a with
      | Some (a, T) =>
          match interp s T from, n with
          | Some (from, T), ENum n => after (copy (with_table s T) a from n) k
          | _, _ => None
          end
      | None => None
      end
  | None, Hash w a n k =>
      match interp s (tb s) a, n with
      | Some (a, T), ENum n =>
          if has_room T (room s) a n && (n <? W) then
            let '(o, T) := intern T (NHash (gen s) a (Num n)) in walk None k (bind (with_table s T) w o)
          else None
      | _, _ => None
      end
  | None, Need x k =>
      match interp s (tb s) x with
      | Some (x, T) =>
          match fork (with_table s T) x with
          | Some (s, t, g) =>
              match fails t, walk None k (with_table s (limited 8 (tb s) x)) with Some h, Some (e, i) => Some (e, g + Z.max h i) | _, _ => None end
          | None => None
          end
      | None => None
      end
  | None, Branch x t u k =>
      match interp s (tb s) x with
      | Some (x, T) =>
          match fork (with_table s T) x with
          | Some (s, s', g) =>
              match walk None t s, walk None u s' with
              | Some (None, h), Some (Some s, i) | Some (Some s, h), Some (None, i) =>
                  match walk None k s with Some (e, j) => Some (e, g + (Z.max h i + j)) | None => None end
              | Some (None, h), Some (None, i) => Some (None, g + Z.max h i)
              | _, _ => None
              end
          | None => None
          end
      | None => None
      end
  | None, Countdown w n t k =>
      let '(s, g) := event s in
      match byte_decode (rest s), decode (rest s), stk s, lookup w (known s) with
      | None, (JUMP, _), d :: r, Some c =>
          let T := tb s in
          let base := Sym T (at_ s) (rest s) r (cells s) (known s) (gen s) (room s) (smw s) in
          let place := fun j => given 8 T c j d in
          if (greatest T c <=? n) && (0 <=? n) && fits r
             && forallb (fun j => match place (Z.of_nat j) with Some d => (0 <=? d) && valid code d | None => false end)
                  (seq 0 (S (Z.to_nat n))) then
            match walk (Some (Turning w base place n)) t base with
            | Some (Some s, h) => match walk None k s with Some (e, i) => Some (e, g + 8 + h + i) | None => None end
            | _ => None
            end
          else None
      | _, _, _, _ => None
      end
  | None, Repeat w n t k =>
      match interp s (tb s) n, lookup w heads with
      | Some (c, T), Some h =>
          match n with
          | ENum m =>
              if 1 <=? m then
                match rounds (walk None t) w c h (with_table s T) with
                | Some (e, g, i) => match walk None k e with Some (e, j) => Some (e, g + m * i + j) | None => None end
                | None => None
                end
              else None
          | _ =>
              match fork (with_table s T) c with
              | Some (s, s', f) =>
                  match rounds (walk None t) w c h s with
                  | Some (e, g, i) =>
                      if i <=? turn then
                        match walk None k e, walk None k s' with
                        | Some (None, j), Some (None, l) => Some (None, f + Z.max (g + j) l)
                        | _, _ => None
                        end
                      else None
                  | None => None
                  end
              | None => None
              end
          end
      | _, _ => None
      end
  | None, ReturnWords l =>
      match interps s (tb s) l with
      | Some (l, T) => match return_words (with_table s T) l with Some g => Some (None, g) | None => None end
      | None => None
      end
  | None, ReturnScratch a n =>
      match interp s (tb s) a with
      | Some (a, T) =>
          match interp s T n with
          | Some (n, T) => match return_scratch (with_table s T) a n with Some g => Some (None, g) | None => None end
          | None => None
          end
      | None => None
      end
  | None, Turn _ _ _ _ => None
  end.

End Code.

(* All of it: None, or the gas with which the code is right whatever calldata is, beside that of turns. The most instructions in a row, heads, words of
   memory that loops know from the beginning and words of the program that are zero there are hints. *)
Definition check_bytes_in (turn : Z) (heads : list (positive * head)) (zeros : list Z) (unset : list positive) (b : body) (fuel : nat) (code : list Z)
  : option Z :=
  if (0 <=? turn) && forallb (fun a => 0 <=? a) zeros then
    match walk code fuel turn heads None b
      (Sym blank 0 code [] (map (fun a => (a, Num 0)) zeros) (map (fun w => (w, Num 0)) unset) 1 0 0) with
    | Some (None, g) => Some g
    | _ => None
    end
  else None.
(* Of a program whose loops all have numbers of turns. *)
Definition check_bytes (heads : list (positive * head)) (zeros : list Z) (unset : list positive) (b : body) (fuel : nat) (code : list Z) : option Z :=
  if is_closed b then check_bytes_in 0 heads zeros unset b fuel code else None.
