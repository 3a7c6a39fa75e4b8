"""Fields and particles: stencils, a lattice gas, gravity, and paths by random numbers."""
import triton
import triton.language as tl


@triton.jit
def heat_3d(u_ptr, out_ptr, D, H, W, k, SLAB: tl.constexpr, BLOCK_Y: tl.constexpr,
            BLOCK_X: tl.constexpr):
    """A step of diffusion on 7 points: planes of a slab one after the other, three at hand."""
    x = tl.program_id(0) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    y = tl.program_id(1) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    z0 = tl.program_id(2) * SLAB
    inside = (x < W) & (y < H)
    plane = y * W + x
    size = H * W
    left = inside & (x > 0)
    right = inside & (x < W - 1)
    above = inside & (y > 0)
    under = inside & (y < H - 1)
    before = tl.load(u_ptr + (z0 - 1) * size + plane, mask=inside & (z0 > 0), other=0.0)
    here = tl.load(u_ptr + z0 * size + plane, mask=inside, other=0.0)
    for i in range(SLAB):
        z = z0 + i
        at = u_ptr + z * size + plane
        after = tl.load(at + size, mask=inside & (z < D - 1), other=0.0)
        near = (tl.load(at - 1, mask=left & (z < D), other=0.0)
                + tl.load(at + 1, mask=right & (z < D), other=0.0)
                + tl.load(at - W, mask=above & (z < D), other=0.0)
                + tl.load(at + W, mask=under & (z < D), other=0.0))
        tl.store(out_ptr + z * size + plane, here + k * (near + before + after - 6.0 * here),
                 mask=inside & (z < D))
        before = here
        here = after


@triton.jit
def red_black(u_ptr, f_ptr, out_ptr, N, h2, omega, COLOUR: tl.constexpr, BLOCK: tl.constexpr):
    """A half step of over-relaxation on a square: places of one colour move, the others stay."""
    row = tl.program_id(1)
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = row * N + x
    u = tl.load(u_ptr + at, mask=x < N)
    inner = (x > 0) & (x < N - 1) & (row > 0) & (row < N - 1)
    moves = inner & ((x + row) % 2 == COLOUR)
    left = tl.load(u_ptr + at - 1, mask=moves, other=0.0)
    right = tl.load(u_ptr + at + 1, mask=moves, other=0.0)
    above = tl.load(u_ptr + at - N, mask=moves, other=0.0)
    under = tl.load(u_ptr + at + N, mask=moves, other=0.0)
    f = tl.load(f_ptr + at, mask=moves, other=0.0)
    new = 0.25 * (left + right + above + under - h2 * f)
    tl.store(out_ptr + at, tl.where(moves, u + omega * (new - u), u), mask=x < N)


@triton.jit
def equilibrium(weight, cu, usq, rho):
    return weight * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * usq)


@triton.jit
def lattice_boltzmann(f_ptr, out_ptr, H, W, omega, BLOCK: tl.constexpr):
    """D2Q9 on a torus: what streams in from nine directions relaxes to its equilibrium."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < H * W
    x = i % W
    y = i // W
    west = tl.where(x == 0, W - 1, x - 1)
    east = tl.where(x == W - 1, 0, x + 1)
    north = tl.where(y == 0, H - 1, y - 1)
    south = tl.where(y == H - 1, 0, y + 1)
    n = H * W
    f0 = tl.load(f_ptr + i, mask=mask, other=1.0)
    f1 = tl.load(f_ptr + n + y * W + west, mask=mask, other=1.0)
    f2 = tl.load(f_ptr + 2 * n + north * W + x, mask=mask, other=1.0)
    f3 = tl.load(f_ptr + 3 * n + y * W + east, mask=mask, other=1.0)
    f4 = tl.load(f_ptr + 4 * n + south * W + x, mask=mask, other=1.0)
    f5 = tl.load(f_ptr + 5 * n + north * W + west, mask=mask, other=1.0)
    f6 = tl.load(f_ptr + 6 * n + north * W + east, mask=mask, other=1.0)
    f7 = tl.load(f_ptr + 7 * n + south * W + east, mask=mask, other=1.0)
    f8 = tl.load(f_ptr + 8 * n + south * W + west, mask=mask, other=1.0)
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    ux = (f1 + f5 + f8 - f3 - f6 - f7) / rho
    uy = (f2 + f5 + f6 - f4 - f7 - f8) / rho
    sq = ux * ux + uy * uy
    o = out_ptr + i
    keep = 1.0 - omega
    tl.store(o, keep * f0 + omega * equilibrium(4 / 9, 0.0 * ux, sq, rho), mask=mask)
    tl.store(o + n, keep * f1 + omega * equilibrium(1 / 9, ux, sq, rho), mask=mask)
    tl.store(o + 2 * n, keep * f2 + omega * equilibrium(1 / 9, uy, sq, rho), mask=mask)
    tl.store(o + 3 * n, keep * f3 + omega * equilibrium(1 / 9, -ux, sq, rho), mask=mask)
    tl.store(o + 4 * n, keep * f4 + omega * equilibrium(1 / 9, -uy, sq, rho), mask=mask)
    tl.store(o + 5 * n, keep * f5 + omega * equilibrium(1 / 36, ux + uy, sq, rho), mask=mask)
    tl.store(o + 6 * n, keep * f6 + omega * equilibrium(1 / 36, uy - ux, sq, rho), mask=mask)
    tl.store(o + 7 * n, keep * f7 + omega * equilibrium(1 / 36, -ux - uy, sq, rho), mask=mask)
    tl.store(o + 8 * n, keep * f8 + omega * equilibrium(1 / 36, ux - uy, sq, rho), mask=mask)


@triton.jit
def gravity(body_ptr, out_ptr, N, soft, BLOCK_I: tl.constexpr, BLOCK_J: tl.constexpr):
    """Accelerations of bodies (x, y, z, mass) by all others, a block of them at a time."""
    i = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)
    here = body_ptr + i * 4
    xi = tl.load(here, mask=i < N, other=0.0)
    yi = tl.load(here + 1, mask=i < N, other=0.0)
    zi = tl.load(here + 2, mask=i < N, other=0.0)
    ax = tl.zeros([BLOCK_I], tl.float32)
    ay = tl.zeros([BLOCK_I], tl.float32)
    az = tl.zeros([BLOCK_I], tl.float32)
    for start in range(0, N, BLOCK_J):
        j = start + tl.arange(0, BLOCK_J)
        there = body_ptr + j * 4
        dx = tl.load(there, mask=j < N, other=0.0)[None, :] - xi[:, None]
        dy = tl.load(there + 1, mask=j < N, other=0.0)[None, :] - yi[:, None]
        dz = tl.load(there + 2, mask=j < N, other=0.0)[None, :] - zi[:, None]
        m = tl.load(there + 3, mask=j < N, other=0.0)
        r = tl.rsqrt(dx * dx + dy * dy + dz * dz + soft)
        w = m[None, :] * r * r * r
        ax += tl.sum(w * dx, 1)
        ay += tl.sum(w * dy, 1)
        az += tl.sum(w * dz, 1)
    tl.store(out_ptr + i * 3, ax, mask=i < N)
    tl.store(out_ptr + i * 3 + 1, ay, mask=i < N)
    tl.store(out_ptr + i * 3 + 2, az, mask=i < N)


@triton.jit
def mandelbrot(out_ptr, W, H, left, top, step, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    """How many steps a place stays near: a block goes on while one of its places does."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cx = tl.fma((i % W).to(tl.float32), step, left)
    cy = tl.fma((i // W).to(tl.float32), step, top)
    x = tl.zeros([BLOCK], tl.float32)
    y = tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.int32)
    n = 0
    going = 1
    while (n < LIMIT) & (going > 0):
        square = y * y
        near = tl.fma(x, x, square) <= 4.0
        new = tl.fma(x, x, cx - square)
        y = tl.where(near, tl.fma(x + x, y, cy), y)
        x = tl.where(near, new, x)
        count += near.to(tl.int32)
        going = tl.max(near.to(tl.int32), 0)
        n += 1
    tl.store(out_ptr + i, count, mask=i < W * H)


@triton.jit
def asian_option(spot_ptr, strike_ptr, out_ptr, rate, vol, dt, seed, PATHS: tl.constexpr,
                 STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """An average-price option: sums over paths of uniform steps of the same variance."""
    option = tl.program_id(0)
    spot = tl.load(spot_ptr + option)
    strike = tl.load(strike_ptr + option)
    drift = (rate - 0.5 * vol * vol) * dt
    width = vol * tl.sqrt(12.0 * dt)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, PATHS, BLOCK):
        path = first + tl.arange(0, BLOCK)
        log_price = tl.zeros([BLOCK], tl.float32)
        mean = tl.zeros([BLOCK], tl.float32)
        for t in range(0, STEPS, 4):
            a, b, c, d = tl.rand4x(seed, (path * STEPS + t) // 4)
            log_price += drift + width * (a - 0.5)
            mean += tl.exp(log_price)
            log_price += drift + width * (b - 0.5)
            mean += tl.exp(log_price)
            log_price += drift + width * (c - 0.5)
            mean += tl.exp(log_price)
            log_price += drift + width * (d - 0.5)
            mean += tl.exp(log_price)
        total += tl.maximum(spot * mean / STEPS - strike, 0.0)
    tl.store(out_ptr + option, tl.sum(total, 0) / PATHS * tl.exp(-rate * dt * STEPS))


@triton.jit
def add_three(a, b, c):
    """Sum and carry of three words of bits."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@triton.jit
def life(board_ptr, out_ptr, H, WORDS, BLOCK: tl.constexpr):
    """Conway's game on a torus, 32 cells a word, neighbours counted by words of bits."""
    w = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.program_id(1)
    mask = w < WORDS
    before = tl.where(w == 0, WORDS - 1, w - 1)
    after = tl.where(w == WORDS - 1, 0, w + 1)
    up = board_ptr + ((y + H - 1) % H) * WORDS
    here = board_ptr + y * WORDS
    down = board_ptr + ((y + 1) % H) * WORDS
    a = tl.load(up + w, mask=mask, other=0).to(tl.uint32, bitcast=True)
    b = tl.load(here + w, mask=mask, other=0).to(tl.uint32, bitcast=True)
    c = tl.load(down + w, mask=mask, other=0).to(tl.uint32, bitcast=True)
    al = (a << 1) | (tl.load(up + before, mask=mask, other=0).to(tl.uint32, bitcast=True) >> 31)
    bl = (b << 1) | (tl.load(here + before, mask=mask, other=0).to(tl.uint32, bitcast=True) >> 31)
    cl = (c << 1) | (tl.load(down + before, mask=mask, other=0).to(tl.uint32, bitcast=True) >> 31)
    ar = (a >> 1) | (tl.load(up + after, mask=mask, other=0).to(tl.uint32, bitcast=True) << 31)
    br = (b >> 1) | (tl.load(here + after, mask=mask, other=0).to(tl.uint32, bitcast=True) << 31)
    cr = (c >> 1) | (tl.load(down + after, mask=mask, other=0).to(tl.uint32, bitcast=True) << 31)
    one_a, two_a = add_three(al, a, ar)
    one_c, two_c = add_three(cl, c, cr)
    one_b = bl ^ br
    two_b = bl & br
    one, two_d = add_three(one_a, one_b, one_c)
    two, four = add_three(two_a, two_b, two_c)
    four_2 = two & two_d
    two = two ^ two_d
    alive = two & ~(four | four_2) & (one | b)
    tl.store(out_ptr + y * WORDS + w, alive.to(tl.int32, bitcast=True), mask=mask)
