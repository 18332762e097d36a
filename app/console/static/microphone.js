// The audio worklet: mono float samples at the context's 16 kHz in, 20 ms PCM16 frames and their peak out.
const FRAME = 320;

class Microphone extends AudioWorkletProcessor {
  constructor() {
    super();
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.peak = 0;
  }

  process([[channel]]) {
    for (const sample of channel ?? []) {
      const clipped = Math.max(-1, Math.min(1, sample));
      this.peak = Math.max(this.peak, Math.abs(clipped));
      this.frame[this.filled++] = clipped * 32767;
      if (this.filled === FRAME) {
        this.port.postMessage({ frame: this.frame.buffer, peak: this.peak }, [this.frame.buffer]);
        this.frame = new Int16Array(FRAME);
        this.filled = 0;
        this.peak = 0;
      }
    }
    return true;
  }
}

registerProcessor("microphone", Microphone);
