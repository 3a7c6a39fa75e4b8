"""Points, rays and splats: neighbours, distances, tables of a grid, and pictures put together."""
import triton
import triton.language as tl


@triton.jit
def nearest_k(q_ptr, p_ptr, index_ptr, dist_ptr, N, M, K: tl.constexpr, BLOCK_Q: tl.constexpr,
              BLOCK_P: tl.constexpr):
    """K nearest of all points, best first: a block's best replace the worst of those kept."""
    q = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)
    k = tl.arange(0, K)
    x = tl.load(q_ptr + q * 3, mask=q < N, other=0.0)
    y = tl.load(q_ptr + q * 3 + 1, mask=q < N, other=0.0)
    z = tl.load(q_ptr + q * 3 + 2, mask=q < N, other=0.0)
    kept = tl.full([BLOCK_Q, K], 0x7F800000 << 32, tl.int64) + k[None, :]
    for start in range(0, M, BLOCK_P):
        p = start + tl.arange(0, BLOCK_P)
        dx = x[:, None] - tl.load(p_ptr + p * 3, mask=p < M, other=0.0)[None, :]
        dy = y[:, None] - tl.load(p_ptr + p * 3 + 1, mask=p < M, other=0.0)[None, :]
        dz = z[:, None] - tl.load(p_ptr + p * 3 + 2, mask=p < M, other=0.0)[None, :]
        d = tl.where((p < M)[None, :], dx * dx + dy * dy + dz * dz, float("inf"))
        packed = (d.to(tl.int32, bitcast=True).to(tl.int64) << 32) | p[None, :]
        best = tl.min(packed, 1)
        worst = tl.max(kept, 1)
        while tl.max((best < worst).to(tl.int32), 0) > 0:
            better = best < worst
            kept = tl.where((kept == worst[:, None]) & better[:, None], best[:, None], kept)
            packed = tl.where(packed == best[:, None], 0x7FFFFFFFFFFFFFFF, packed)
            best = tl.min(packed, 1)
            worst = tl.max(kept, 1)
    kept = tl.sort(kept, 1)
    at = q[:, None] * K + k[None, :]
    tl.store(index_ptr + at, (kept & 0xFFFFFFFF).to(tl.int32), mask=(q < N)[:, None])
    tl.store(dist_ptr + at, (kept >> 32).to(tl.int32).to(tl.float32, bitcast=True),
             mask=(q < N)[:, None])


@triton.jit
def chamfer(a_ptr, b_ptr, out_ptr, N, M, D: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_M: tl.constexpr):
    """Squared distance of each point to the nearest of another cloud, by products."""
    cloud = tl.program_id(1)
    a_ptr += cloud * N * D
    b_ptr += cloud * M * D
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    a = tl.load(a_ptr + n[:, None] * D + d[None, :], mask=(n < N)[:, None], other=0.0)
    aa = tl.sum(a.to(tl.float32) * a.to(tl.float32), 1)
    least = tl.full([BLOCK_N], float("inf"), tl.float32)
    for start in tl.range(0, M, BLOCK_M, num_stages=3):
        m = start + tl.arange(0, BLOCK_M)
        b = tl.load(b_ptr + m[:, None] * D + d[None, :], mask=(m < M)[:, None], other=0.0)
        bb = tl.sum(b.to(tl.float32) * b.to(tl.float32), 1)
        apart = tl.where((m < M)[None, :], bb[None, :] - 2.0 * tl.dot(a, tl.trans(b)), float("inf"))
        least = tl.minimum(least, tl.min(apart, 1))
    tl.store(out_ptr + cloud * N + n, tl.maximum(least + aa, 0.0), mask=n < N)


@triton.jit
def farthest_point(p_ptr, index_ptr, N, PICKS: tl.constexpr, BLOCK: tl.constexpr):
    """Points far from all before: a cloud and its distances stay in registers."""
    cloud = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < N
    p_ptr += cloud * N * 3
    x = tl.load(p_ptr + i * 3, mask=mask, other=0.0)
    y = tl.load(p_ptr + i * 3 + 1, mask=mask, other=0.0)
    z = tl.load(p_ptr + i * 3 + 2, mask=mask, other=0.0)
    far = tl.where(mask, 1e10, -1.0)
    last = 0
    for k in range(PICKS):
        tl.store(index_ptr + cloud * PICKS + k, last)
        dx = x - tl.load(p_ptr + last * 3)
        dy = y - tl.load(p_ptr + last * 3 + 1)
        dz = z - tl.load(p_ptr + last * 3 + 2)
        far = tl.minimum(far, dx * dx + dy * dy + dz * dz)
        last = tl.argmax(far, 0).to(tl.int32)


@triton.jit
def ball_query(q_ptr, p_ptr, out_ptr, N, M, radius_2, K: tl.constexpr, BLOCK: tl.constexpr):
    """The first K points within a radius of one place, -1 behind them."""
    q = tl.program_id(0)
    cloud = tl.program_id(1)
    q_ptr += (cloud * N + q) * 3
    p_ptr += cloud * M * 3
    out_ptr += (cloud * N + q) * K
    x = tl.load(q_ptr)
    y = tl.load(q_ptr + 1)
    z = tl.load(q_ptr + 2)
    found = 0
    start = 0
    while (start < M) & (found < K):
        p = start + tl.arange(0, BLOCK)
        dx = tl.load(p_ptr + p * 3, mask=p < M, other=1e6) - x
        dy = tl.load(p_ptr + p * 3 + 1, mask=p < M, other=1e6) - y
        dz = tl.load(p_ptr + p * 3 + 2, mask=p < M, other=1e6) - z
        near = (dx * dx + dy * dy + dz * dz < radius_2).to(tl.int32)
        place = found + tl.cumsum(near, 0) - near
        tl.store(out_ptr + place, p, mask=(near != 0) & (place < K))
        found += tl.sum(near, 0)
        start += BLOCK
    k = tl.arange(0, K)
    tl.store(out_ptr + k, tl.full([K], -1, tl.int32), mask=k >= found)


@triton.jit
def harmonics(dir_ptr, coefficient_ptr, out_ptr, N, BLOCK: tl.constexpr):
    """Colours of splats seen from a direction: 16 harmonics, three channels."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    x = tl.load(dir_ptr + i * 3, mask=mask, other=0.0)
    y = tl.load(dir_ptr + i * 3 + 1, mask=mask, other=0.0)
    z = tl.load(dir_ptr + i * 3 + 2, mask=mask, other=1.0)
    r = tl.rsqrt(x * x + y * y + z * z)
    x *= r
    y *= r
    z *= r
    xx = x * x
    yy = y * y
    zz = z * z
    base = coefficient_ptr + i * 48
    for c in tl.static_range(3):
        p = base + c
        v = 0.28209479 * tl.load(p, mask=mask, other=0.0)
        v -= 0.48860251 * y * tl.load(p + 3, mask=mask, other=0.0)
        v += 0.48860251 * z * tl.load(p + 6, mask=mask, other=0.0)
        v -= 0.48860251 * x * tl.load(p + 9, mask=mask, other=0.0)
        v += 1.09254843 * x * y * tl.load(p + 12, mask=mask, other=0.0)
        v -= 1.09254843 * y * z * tl.load(p + 15, mask=mask, other=0.0)
        v += 0.31539157 * (2.0 * zz - xx - yy) * tl.load(p + 18, mask=mask, other=0.0)
        v -= 1.09254843 * x * z * tl.load(p + 21, mask=mask, other=0.0)
        v += 0.54627422 * (xx - yy) * tl.load(p + 24, mask=mask, other=0.0)
        v -= 0.59004359 * y * (3.0 * xx - yy) * tl.load(p + 27, mask=mask, other=0.0)
        v += 2.89061144 * x * y * z * tl.load(p + 30, mask=mask, other=0.0)
        v -= 0.45704579 * y * (4.0 * zz - xx - yy) * tl.load(p + 33, mask=mask, other=0.0)
        v += 0.37317633 * z * (2.0 * zz - 3.0 * (xx + yy)) * tl.load(p + 36, mask=mask, other=0.0)
        v -= 0.45704579 * x * (4.0 * zz - xx - yy) * tl.load(p + 39, mask=mask, other=0.0)
        v += 1.44530572 * z * (xx - yy) * tl.load(p + 42, mask=mask, other=0.0)
        v -= 0.59004359 * x * (xx - 3.0 * yy) * tl.load(p + 45, mask=mask, other=0.0)
        tl.store(out_ptr + i * 3 + c, tl.maximum(v + 0.5, 0.0), mask=mask)


@triton.jit
def splat_tiles(start_ptr, order_ptr, mean_ptr, conic_ptr, colour_ptr, opacity_ptr, out_ptr,
                light_ptr, W, TILE: tl.constexpr):
    """Sorted splats over a tile of pixels, front to back, until no pixel lets light through."""
    tile_x = tl.program_id(0)
    tile_y = tl.program_id(1)
    tile = tile_y * tl.num_programs(0) + tile_x
    i = tl.arange(0, TILE * TILE)
    px = tile_x * TILE + i % TILE
    py = tile_y * TILE + i // TILE
    at = tl.load(start_ptr + tile)
    end = tl.load(start_ptr + tile + 1)
    light = tl.full([TILE * TILE], 1.0, tl.float32)
    red = tl.zeros([TILE * TILE], tl.float32)
    green = tl.zeros([TILE * TILE], tl.float32)
    blue = tl.zeros([TILE * TILE], tl.float32)
    going = 1
    while (at < end) & (going > 0):
        g = tl.load(order_ptr + at)
        dx = tl.load(mean_ptr + 2 * g) - px
        dy = tl.load(mean_ptr + 2 * g + 1) - py
        a = tl.load(conic_ptr + 3 * g)
        b = tl.load(conic_ptr + 3 * g + 1)
        c = tl.load(conic_ptr + 3 * g + 2)
        power = -0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy
        alpha = tl.minimum(0.99, tl.load(opacity_ptr + g) * tl.exp(power))
        on = (power <= 0.0) & (alpha >= 1.0 / 255.0) & (light >= 1e-4)
        weight = tl.where(on, alpha * light, 0.0)
        red += weight * tl.load(colour_ptr + 3 * g)
        green += weight * tl.load(colour_ptr + 3 * g + 1)
        blue += weight * tl.load(colour_ptr + 3 * g + 2)
        light -= weight
        going = tl.max((light >= 1e-4).to(tl.int32), 0)
        at += 1
    pixel = py * W + px
    size = tl.num_programs(1) * TILE * W
    tl.store(out_ptr + pixel, red)
    tl.store(out_ptr + size + pixel, green)
    tl.store(out_ptr + 2 * size + pixel, blue)
    tl.store(light_ptr + pixel, light)


@triton.jit
def hash_grid(x_ptr, table_ptr, scale_ptr, out_ptr, N, LEVELS: tl.constexpr, LOG: tl.constexpr,
              BLOCK: tl.constexpr):
    """Features of places in a cube from hashed tables, a level a program: eight corners each."""
    level = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    scale = tl.load(scale_ptr + level)
    f = tl.arange(0, 2)
    x = tl.load(x_ptr + i * 3, mask=mask, other=0.0) * scale
    y = tl.load(x_ptr + i * 3 + 1, mask=mask, other=0.0) * scale
    z = tl.load(x_ptr + i * 3 + 2, mask=mask, other=0.0) * scale
    x0 = tl.floor(x)
    y0 = tl.floor(y)
    z0 = tl.floor(z)
    table_ptr += level * (2 << LOG)
    total = tl.zeros([BLOCK, 2], tl.float32)
    for corner in tl.static_range(8):
        cx = corner & 1
        cy = (corner >> 1) & 1
        cz = corner >> 2
        wx = x - x0 if cx == 1 else 1.0 - (x - x0)
        wy = y - y0 if cy == 1 else 1.0 - (y - y0)
        wz = z - z0 if cz == 1 else 1.0 - (z - z0)
        key = ((x0.to(tl.int32) + cx).to(tl.uint32)
               ^ (y0.to(tl.int32) + cy).to(tl.uint32) * 2654435761
               ^ (z0.to(tl.int32) + cz).to(tl.uint32) * 805459861)
        key = (key & ((1 << LOG) - 1)).to(tl.int32)
        v = tl.load(table_ptr + key[:, None] * 2 + f[None, :], mask=mask[:, None], other=0.0)
        total += (wx * wy * wz)[:, None] * v.to(tl.float32)
    at = (i * LEVELS + level)[:, None] * 2 + f[None, :]
    tl.store(out_ptr + at, total.to(out_ptr.dtype.element_ty), mask=mask[:, None])


@triton.jit
def multiply_all(a, b):
    return a * b


@triton.jit
def ray_march(sigma_ptr, colour_ptr, start_ptr, out_ptr, depth_ptr, step, BLOCK: tl.constexpr):
    """Colour and depth of a ray from its samples: light that is left is a running product."""
    ray = tl.program_id(0)
    first = tl.load(start_ptr + ray)
    end = tl.load(start_ptr + ray + 1)
    left = 1.0
    c = tl.arange(0, 4)
    colour = tl.zeros([4], tl.float32)
    depth = 0.0
    for begin in range(first, end, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        mask = i < end
        sigma = tl.load(sigma_ptr + i, mask=mask, other=0.0).to(tl.float32)
        through = tl.exp(-sigma * step)
        after = tl.associative_scan(through, 0, multiply_all) * left
        weight = after / through - after
        v = tl.load(colour_ptr + i[:, None] * 3 + c[None, :], mask=mask[:, None] & (c < 3)[None, :],
                    other=0.0)
        colour += tl.sum(weight[:, None] * v.to(tl.float32), 0)
        depth += tl.sum(weight * (i - first + 0.5) * step, 0)
        left *= tl.reduce(through, 0, multiply_all)
    tl.store(out_ptr + ray * 3 + c, colour + left, mask=c < 3)
    tl.store(depth_ptr + ray, depth)


@triton.jit
def quaternion_cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@triton.jit
def rotate_points(q_ptr, p_ptr, out_ptr, N, BLOCK: tl.constexpr):
    """Points turned by unit quaternions (w, x, y, z)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < N
    four = tl.reshape(tl.load(q_ptr + i[:, None] * 4 + tl.arange(0, 4)[None, :],
                              mask=mask[:, None], other=1.0), [BLOCK, 2, 2])
    even, odd = tl.split(four)
    w, y = tl.split(even)
    x, z = tl.split(odd)
    norm = tl.rsqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w * norm, x * norm, y * norm, z * norm
    px = tl.load(p_ptr + i * 3, mask=mask, other=0.0)
    py = tl.load(p_ptr + i * 3 + 1, mask=mask, other=0.0)
    pz = tl.load(p_ptr + i * 3 + 2, mask=mask, other=0.0)
    tx, ty, tz = quaternion_cross(x, y, z, px, py, pz)
    ux, uy, uz = quaternion_cross(x, y, z, tx + w * px, ty + w * py, tz + w * pz)
    tl.store(out_ptr + i * 3, px + 2.0 * ux, mask=mask)
    tl.store(out_ptr + i * 3 + 1, py + 2.0 * uy, mask=mask)
    tl.store(out_ptr + i * 3 + 2, pz + 2.0 * uz, mask=mask)
