// Plays a reply's sound as it comes, falls silent at once, and tells how much of it was really played.
const LEAD_S = 0.05;  // so much later than now begins what comes when nothing is playing

export class Speaker {
  constructor(rate) {
    this.rate = rate;
    this.context = new AudioContext({ sampleRate: rate });
    this.forget();
  }

  forget() {
    this.sources = new Set();
    this.reply = null;
    this.samples = 0;
    this.playedSamples = 0;
    this.free = 0;
    this.waiting = null;
  }

  /** Queue PCM16 of a reply; whether it is the first of it. */
  play(reply, pcm) {
    const first = this.reply !== reply;
    if (first) { this.stop(); this.reply = reply; }
    const samples = new Int16Array(pcm);
    const buffer = this.context.createBuffer(1, Math.max(1, samples.length), this.rate);
    buffer.getChannelData(0).set(Float32Array.from(samples, (sample) => sample / 32768));
    const source = new AudioBufferSourceNode(this.context, { buffer });
    source.connect(this.context.destination);
    source.onended = () => this.ended(reply, source, samples.length);
    this.free = Math.max(this.free, this.context.currentTime + LEAD_S);
    source.start(this.free);
    this.free += samples.length / this.rate;
    this.samples += samples.length;
    this.sources.add(source);
    return first;
  }

  ended(reply, source, length) {
    if (this.reply !== reply || !this.sources.delete(source)) return;
    this.playedSamples += length;
    if (!this.sources.size) this.waiting?.(Math.round((this.playedSamples / this.rate) * 1000));
  }

  /** Once all of the reply that was queued is over: its milliseconds. Never, where it was stopped; null, where it has no sound. */
  played(reply) {
    if (this.reply !== reply) return Promise.resolve(null);
    if (!this.sources.size) return Promise.resolve(Math.round((this.playedSamples / this.rate) * 1000));
    return new Promise((resolve) => { this.waiting = resolve; });
  }

  /** Fall silent. */
  stop() {
    const sources = this.sources;
    this.forget();
    for (const source of sources) source.stop();
  }

  close() {
    this.stop();
    return this.context.close();
  }
}
