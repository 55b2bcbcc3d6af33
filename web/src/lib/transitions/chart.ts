/** Axes and series of the plots. */

import { significant } from "../i18n/format";

export interface Point {
  x: number;
  y: number;
}

export interface Series {
  name: string;
  points: Point[];
}

/** Round numbers between two values, in ascending order. */
export function ticks(low: number, high: number, maxCount: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, maxCount);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999)!;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => clean((first + index) * step));
}

/** The powers of ten between two values, or every second, third … of them. */
export function logTicks(low: number, high: number, maxCount: number): number[] {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, maxCount)));
  const powers: number[] = [];
  for (let power = first; power <= last; power += every) powers.push(clean(10 ** power));
  return powers;
}

/** The position of a number on an axis, from 0 to 1. */
export function place(value: number, [low, high]: readonly [number, number], [from, to]: readonly [number, number], log: boolean): number {
  const scaled = log ? Math.log10 : (number: number) => number;
  const share = high === low ? 0.5 : (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
  return from + share * (to - from);
}

/** The range of an axis for some numbers: whole powers of ten, or with a small margin. */
export function domain(values: number[], log: boolean, zero = false): [number, number] {
  const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  if (finite.length === 0) return log ? [1, 10] : [0, 1];
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  if (log) {
    const ends: [number, number] = [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
    return ends[0] === ends[1] ? [ends[0], ends[0] * 10] : ends;
  }
  const bottom = zero ? Math.min(0, low) : low;
  const room = (high - bottom || Math.abs(high) || 1) * 0.06;
  return [zero && low >= 0 ? 0 : bottom - room, high + room];
}

/** The SVG path through the points. */
export function linePath(points: Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** A short time: 12 µs, 3.4 ms, 1.2 s. */
export function shortTime(ms: number): string {
  if (ms < 0.001) return "< 1 µs";
  const digits = (value: number): string => significant(value, value < 100 ? 2 : 3);
  if (ms < 1) return `${digits(ms * 1000)} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`;
}

/** A number for an axis: 100, 10 k, 1 M. */
export function shortCount(value: number): string {
  const [size, letter] = value >= 1e9 ? [1e9, " G"] : value >= 1e6 ? [1e6, " M"] : value >= 1e4 ? [1e3, " k"] : [1, ""];
  return `${significant(value / size, 3)}${letter}`;
}

function clean(value: number): number {
  return Number(value.toPrecision(12));
}
