"""dev bench --kernels: our own kernels against oneDNN's, by the program race_kernels (race_kernels.cc): one line of JSON a race."""

import json

from programs import program, run


def races(seconds):
    for line in run([program("race_kernels"), "--seconds", seconds], "race_kernels").splitlines():
        yield json.loads(line)


def table(seconds):
    """Text, and whether every kernel of ours wins where it is used."""
    lines, won = [], True
    for race in races(seconds):
        ratio = race["onednn_us"] / race["ours_us"]
        won = won and (ratio >= 1 or not race["used"])
        word = "" if not race["used"] else "PASS" if ratio >= 1 else "FAIL"
        lines.append(f"{race['kernel']:32}  {race['problem']:36}  ours {race['ours_us']:10.2f} us  oneDNN {race['onednn_us']:10.2f} us  "
                     f"{ratio:5.2f} x  {'used' if race['used'] else 'not used':8}  {word}")
    return "\n".join(lines), won
