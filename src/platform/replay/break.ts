/** Here a worker left the run, and another one took it up; or the log has no more. */
export class Break extends Error {
  override readonly name = 'Break';
  /** Before which fact; undefined at the end of the log. */
  readonly seq: number | undefined;

  constructor(seq: number | undefined) {
    super(seq === undefined ? 'the log ends here' : 'a worker left the run here');
    this.seq = seq;
  }
}
