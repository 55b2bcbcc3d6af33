import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Playback } from "./playback.svelte";

const size = { cols: 7, rows: 6 };

/** Alternating discs in columns 1, 2, 3, ... */
const discs = (count: number) => Array.from({ length: count }, (_, index) => ({ column: 1 + (index % 7), row: 1 + Math.floor(index / 7), player: (index % 2) as 0 | 1, ply: index + 1 }));

describe("playback", () => {
  let shown: number[];
  let playback: Playback;
  const make = (options: ConstructorParameters<typeof Playback>[0]) => {
    playback = new Playback({
      pace: "normal",
      onshow: (at) => {
        shown.push(at);
        playback.movement.follow(discs(at), size);
      },
      ...options,
    });
    playback.movement.follow(discs(playback.at), size);
    return playback;
  };

  beforeEach(() => {
    shown = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    playback.close();
    vi.useRealTimers();
  });

  it("shows one move after another and stops at the end", () => {
    make({ length: 3 }).play();
    expect(playback.at).toBe(0);
    vi.advanceTimersByTime(1_050);
    expect(playback.at).toBe(1);
    vi.advanceTimersByTime(1_050);
    expect(playback.at).toBe(2);
    vi.advanceTimersByTime(1_050);
    expect(shown).toEqual([0, 1, 2, 3]);
    expect(playback.playing).toBe(false);
  });

  it("never drops a disc before the previous one has landed", () => {
    make({ length: 12, pace: "fast" }).play();
    for (let ms = 0; ms < 12_000; ms += 5) {
      const before = playback.at;
      const falling = playback.movement.falling;
      vi.advanceTimersByTime(5);
      if (playback.at > before && before > 0) expect(falling).toBeNull();
    }
    expect(playback.at).toBe(12);
  });

  it("pauses, steps and continues from there", () => {
    make({ length: 9, at: 0 }).play();
    vi.advanceTimersByTime(1_100);
    playback.pause();
    const at = playback.at;
    vi.advanceTimersByTime(10_000);
    expect(playback.at).toBe(at);
    playback.step("forward");
    expect(playback.at).toBe(at + 1);
    expect(playback.playing).toBe(false);
    playback.step("first");
    expect(playback.at).toBe(0);
    playback.play();
    vi.advanceTimersByTime(1_100);
    expect(playback.at).toBe(1);
  });

  it("waits at the end of a live game and follows it", () => {
    make({ length: 0, live: true, playing: true, pace: "live" });
    playback.extend(1);
    expect(playback.at).toBe(1);
    playback.extend(2);
    expect(playback.at).toBe(1);
    vi.advanceTimersByTime(390);
    expect(playback.at).toBe(1);
    vi.advanceTimersByTime(500);
    expect(playback.at).toBe(2);
    expect(playback.playing).toBe(true);
  });

  it("shows the user's own move at once, and puts a falling disc in place", () => {
    make({ length: 0, live: true, playing: true, pace: "live" });
    playback.extend(1);
    expect(playback.movement.falling).toBe(1);
    playback.place(2);
    expect(playback.at).toBe(2);
    expect(playback.movement.falling).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(playback.movement.falling).toBeNull();
  });

  it("jumps when it is far behind at live speed", () => {
    make({ length: 0, live: true, playing: true, pace: "live" });
    playback.extend(31);
    vi.advanceTimersByTime(1_500);
    expect(playback.at).toBe(31);
    expect(shown.length).toBeLessThan(5);
  });

  it("takes moves back without animation", () => {
    make({ length: 4, live: true, playing: true, pace: "live" });
    playback.extend(2);
    expect(playback.at).toBe(2);
    expect(playback.movement.falling).toBeNull();
  });

  it("stays at the selected position while moves come in", () => {
    make({ length: 4, live: true, playing: true, pace: "live" });
    playback.step("first");
    expect(playback.looking).toBe(true);
    playback.extend(5);
    vi.advanceTimersByTime(3_000);
    expect(playback.at).toBe(0);
    playback.step("last");
    expect(playback.at).toBe(5);
    expect(playback.playing).toBe(true);
  });
});
