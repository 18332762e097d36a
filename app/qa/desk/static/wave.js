// A turn's sound: drawn as its peaks, played from where it is clicked.
export class Wave {
  constructor(canvas, told) {
    this.canvas = canvas;
    this.told = told;  // of seconds played and in all
    this.context = null;
    this.clear();
    canvas.addEventListener("click", (event) => this.play((event.offsetX / canvas.clientWidth) * (this.sound?.duration ?? 0)));
  }

  clear() {
    this.stop();
    this.sound = null;
    this.draw();
  }

  async load(bytes) {
    this.context ??= new AudioContext();
    this.sound = await this.context.decodeAudioData(bytes);
    this.draw();
  }

  get playing() {
    return Boolean(this.source);
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play(0);
  }

  play(from) {
    if (!this.sound) return;
    this.stop();
    this.context.resume();
    const source = this.context.createBufferSource();
    source.buffer = this.sound;
    source.connect(this.context.destination);
    source.onended = () => {
      if (this.source === source) this.stop();
    };
    source.start(0, from);
    this.source = source;
    this.began = this.context.currentTime - from;
    this.follow();
  }

  stop() {
    const source = this.source;
    this.source = null;
    source?.stop();
    this.draw();
  }

  follow() {
    if (!this.playing) return;
    this.draw(this.context.currentTime - this.began);
    requestAnimationFrame(() => this.follow());
  }

  draw(at = 0) {
    const pen = this.canvas.getContext("2d");
    const { width, height } = this.canvas;
    pen.clearRect(0, 0, width, height);
    this.told?.(at, this.sound?.duration ?? 0);
    if (!this.sound) return;
    const colour = getComputedStyle(this.canvas);
    const samples = this.sound.getChannelData(0);
    const each = samples.length / width;
    pen.fillStyle = colour.color;
    for (let x = 0; x < width; x++) {
      let peak = 0;
      for (let i = Math.floor(x * each); i < (x + 1) * each && i < samples.length; i++) peak = Math.max(peak, Math.abs(samples[i]));
      const tall = Math.max(1, peak * height);
      pen.fillRect(x, (height - tall) / 2, 1, tall);
    }
    pen.fillStyle = colour.outlineColor;
    if (at) pen.fillRect((at / this.sound.duration) * width, 0, 2, height);
  }
}
