/** Sounds, synthesised on the fly so that no files have to be loaded. */

let context: AudioContext | undefined;

/** The knock of a landing disc: filtered noise over a low thud. */
export function knock(): void {
  const audio = audioContext();
  if (!audio) return;
  const now = audio.currentTime;
  const noise = audio.createBufferSource();
  const length = Math.floor(audio.sampleRate * 0.05);
  const buffer = audio.createBuffer(1, length, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i++) samples[i] = (Math.random() * 2 - 1) * (1 - i / length) ** 3;
  noise.buffer = buffer;
  const filter = audio.createBiquadFilter();
  filter.type = "bandpass";
  filter.frequency.value = 1400;
  noise.connect(filter).connect(fadeOut(audio, now, 0.22, 0.05));
  noise.start(now);
  tone(audio, 170, now, 0.16, 0.09);
}

/** The end of a game: two rising notes for a win, two falling ones for a loss, the same note twice for a draw. */
export function chime(end: "won" | "lost" | "draw"): void {
  const audio = audioContext();
  if (!audio) return;
  const now = audio.currentTime;
  const second = { won: 659.3, lost: 392, draw: 523.3 }[end];
  tone(audio, 523.3, now, 0.1, 0.3);
  tone(audio, second, now + 0.14, 0.1, 0.5);
}

function tone(audio: AudioContext, frequency: number, at: number, volume: number, seconds: number): void {
  const oscillator = audio.createOscillator();
  oscillator.frequency.value = frequency;
  oscillator.connect(fadeOut(audio, at, volume, seconds));
  oscillator.start(at);
  oscillator.stop(at + seconds);
}

function fadeOut(audio: AudioContext, at: number, volume: number, seconds: number): GainNode {
  const gain = audio.createGain();
  gain.gain.setValueAtTime(volume, at);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + seconds);
  gain.connect(audio.destination);
  return gain;
}

/** The audio context, or null: browsers allow sound only after a user interaction. */
function audioContext(): AudioContext | null {
  try {
    context ??= new AudioContext();
    if (context.state === "suspended") void context.resume();
    return context;
  } catch {
    return null;
  }
}
