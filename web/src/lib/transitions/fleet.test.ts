import { expect, test } from "vitest";
import { addressForOthers, historyPoints, roughTime } from "./fleet";

test("the history is in minutes before now", () => {
  const now = 1_000_000_000;
  const point = (at: number, rate: number) => ({ at, rate, waiting: 0, workers: 1 });
  const history = [point(now - 6 * 60_000, 9), point(now - 90_000, 2), point(now, 3)];
  expect(historyPoints({ history, now }, ({ rate }) => rate)).toEqual([{ x: -1.5, y: 2 }, { x: 0, y: 3 }]);
});

test.each([
  ["nats://127.0.0.1:4222", "nats://HOST:4222"],
  ["tls://localhost", "tls://HOST"],
  ["nats://[::1]:4222,nats://10.0.0.2:4222", "nats://HOST:4222,nats://10.0.0.2:4222"],
  ["nats://nats:4222", "nats://nats:4222"],
  ["nats://localhost.example.org:4222", "nats://localhost.example.org:4222"],
])("%s is %s for others", (nats, shown) => expect(addressForOthers(nats)).toBe(shown));

test.each([[0.4, "0 s"], [89, "89 s"], [100, "2 min"], [7200, "2 h"], [200_000, "2 d"]])("%d seconds are %s", (seconds, text) => expect(roughTime(seconds)).toBe(text));
