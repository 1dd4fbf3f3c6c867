#!/usr/bin/env python3
"""Fills in what PostgreSQL 15 answers: golden/*.txt, one case a line, `expression | result`.

    PGHOST=... PGPORT=... ./generate.py [FILE ...]

Each line's expression is asked for again and its result replaced (`ERROR state: message` for an error); a new case is a new
line with nothing behind the expression. Lines that begin with `--` stay. The expressions are plain SQL in the few forms that
`golden.rs` reads. numeric_random.txt is made here, from a fixed seed.
"""
import os
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = "-c timezone=UTC -c datestyle=iso,mdy -c intervalstyle=postgres"


def ask(expressions):
    """The results, in order."""
    script = "".join(f"select {expression};\n\\echo @@\n" for expression in expressions)
    run = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose", "-P", "null=NULL", "-f", "-"],
        input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PGOPTIONS": OPTIONS})
    results = []
    for answer in run.stdout.split("@@\n")[:-1]:
        error = re.search(r"ERROR:\s+(\w{5}): (.*)", answer)
        results.append(f"ERROR {error[1]}: {error[2]}" if error else answer.rstrip("\n"))
    assert len(results) == len(expressions), run.stdout[-2000:]
    return results


def fill(path):
    lines = path.read_text().splitlines()
    cases = [line.rsplit(" | ", 1)[0].rstrip(" |") for line in lines if line and not line.startswith("--")]
    results = iter(ask(cases))
    out = []
    for line in lines:
        if line and not line.startswith("--"):
            line = f"{line.rsplit(' | ', 1)[0].rstrip(' |')} | {next(results)}"
        out.append(line)
    path.write_text("\n".join(out) + "\n")


def random_numeric(path):
    """Random operands of all sizes and scales for numeric's operations."""
    dice = random.Random(15)

    def operand(digits=40, decimals=20):
        whole = dice.choice(["0", str(dice.randrange(10 ** dice.randint(1, digits)))])
        scale = dice.choice([0, 0, 1, 2, dice.randint(0, decimals)])
        fraction = "".join(dice.choice("0123456789") for _ in range(scale))
        if dice.random() < 0.1:
            fraction = "0" * len(fraction)
        sign = dice.choice(["", "", "-"])
        return f"{sign}{whole}{'.' + fraction if fraction else ''}"

    cases = []
    for name in ["numeric_add", "numeric_sub", "numeric_mul", "numeric_div", "numeric_mod", "numeric_div_trunc"]:
        for size in [4, 9, 18, 40]:
            cases += [f"{name}('{operand(size)}'::numeric, '{operand(size)}'::numeric)" for _ in range(40)]
    for name in ["sqrt", "ln", "abs", "ceil", "floor", "trim_scale", "min_scale", "numeric_uminus"]:
        for size in [3, 12, 30]:
            cases += [f"{name}('{operand(size)}'::numeric)" for _ in range(25)]
    cases += [f"exp('{operand(2, 8)}'::numeric)" for _ in range(50)]
    cases += [f"power('{operand(5, 6)}'::numeric, '{operand(1, 4)}'::numeric)" for _ in range(80)]
    cases += [f"power('{operand(5, 6)}'::numeric, '{dice.randint(-30, 30)}'::numeric)" for _ in range(60)]
    cases += [f"log('{operand(5, 6)}'::numeric, '{operand(12, 6)}'::numeric)" for _ in range(60)]
    for name in ["round", "trunc"]:
        cases += [f"{name}('{operand(20)}'::numeric, '{dice.randint(-8, 12)}'::int4)" for _ in range(60)]
    cases += [f"float8('{operand(25)}'::numeric)" for _ in range(30)]
    cases += [f"\"numeric\"('{dice.uniform(-1, 1) * 10 ** dice.randint(-30, 30)!r}'::float8)" for _ in range(40)]
    cases += [f"'{operand(8, 8)}'::numeric({dice.randint(1, 12)},{dice.randint(-4, 8)})" for _ in range(80)]
    cases += [f"numeric_cmp('{operand(9, 4)}'::numeric, '{operand(9, 4)}'::numeric)" for _ in range(40)]
    path.write_text("\n".join(cases) + "\n")


if __name__ == "__main__":
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("*.txt"))
    for path in paths:
        if path.name == "numeric_random.txt":
            random_numeric(path)
        fill(path)
