"""Writes bits.tsv: function, argument, result, both as the bits of a double.

The steps are those of portable.go in CPython's floats, which are doubles and
never fused; mpmath says that each result is within 1.5 units of its last place.

    python3 bits.py > bits.tsv
"""
import math, random, struct
from mpmath import mp, mpf

mp.prec = 200
LN2 = 0.6931471805599453
HIGH = float.fromhex("0x1.62e42feep-1")
LOW = float(mpf("0.693147180559945309417232121458176568075500134360255254120680009") - mpf(HIGH))
TWO_BY_LN2 = float(2 / mpf("0.693147180559945309417232121458176568075500134360255254120680009"))


def reduced(x):
    f, e = math.frexp(x)
    if f < math.sqrt(2) / 2:
        f, e = f * 2, e - 1
    s = (f - 1) / (f + 1)
    z = s * s
    p = 1 / 23
    for k in range(21, 2, -2):
        p = p * z + 1 / k
    return float(e), s + p * z * s


def log2(x):
    e, s = reduced(x)
    return e + TWO_BY_LN2 * s


def log(x):
    e, s = reduced(x)
    return e * HIGH + (e * LOW + 2 * s)


def exp2(x):
    whole = math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5)
    r = (x - whole) * LN2
    p = 1.0
    for k in range(18, 1, -1):
        p = 1 + p * r / k
    return math.ldexp(1 + p * r, whole)


POWERS = [float(mp.mpf(2) ** (mpf(j) / 128)) for j in range(128)]


def exp(x):
    k = (x * (128 * 1.4426950408889634) + 6755399441055744.0) - 6755399441055744.0
    r = (x - k * (HIGH / 128)) - k * (LOW / 128)
    s = r * r
    p = r + s * ((0.5 + r * (1 / 6)) + s * (1 / 24 + r * (1 / 120)))
    power = POWERS[int(k) % 128]
    return math.ldexp(power + power * p, int(k) // 128)


def bits(x):
    return "%016x" % struct.unpack(">Q", struct.pack(">d", x))[0]


def row(name, x, y, exact):
    off = abs(mpf(y) - exact) / mpf(math.ulp(y)) if y else abs(exact)
    assert off <= 1.5, (name, x, y, off)
    print(name, bits(x), bits(y), sep="\t")


random.seed(1)
xs = [44769.0, 1.0, 2.0, 3.0, 1e-15, 1 - 1e-15, 0.1, 0.5, 5e-324, 1.7976931348623157e308, 2.0**62 + 2.0**20]
xs += [float(random.randrange(2, 1 << 20)) for _ in range(200)]
xs += [random.random() for _ in range(100)] + [math.ldexp(random.random() + 0.5, random.randrange(-300, 300)) for _ in range(100)]
for x in xs:
    row("log2", x, log2(x), mp.log(mpf(x), 2))
    row("log", x, log(x), mp.log(mpf(x)))
for x in [0.0, 1.0, -1.0, 0.5, -0.5, 1023.5, -1021.25] + [random.uniform(-40, 40) for _ in range(200)]:
    row("exp2", x, exp2(x), mp.mpf(2) ** mpf(x))
for x in [0.0, 1.0, -1.0, 0.5, -0.5, 709.782712893384, -745.1332191019411, -708.5, -744.5, 1e-300, -5e-324, 1e-17] \
        + [random.uniform(-40, 40) for _ in range(200)] + [random.uniform(-745, 709) for _ in range(200)] + [random.uniform(-1, 1) for _ in range(100)]:
    row("exp", x, exp(x), mp.exp(mpf(x)))
