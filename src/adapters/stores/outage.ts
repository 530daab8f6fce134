/** Trouble that is met again and again while it lasts. */
export interface Outage {
  readonly failed: (problem: unknown) => void;
  readonly passed: () => void;
}

/** Tells of it when it begins and when it is over: what looks each second would say so each second. */
export function createOutage(
  tell: (message: string, problem?: unknown) => void,
  { begun, over }: { readonly begun: string; readonly over: string },
): Outage {
  let isOn = false;
  return {
    failed(problem) {
      if (isOn) return;
      isOn = true;
      tell(begun, problem);
    },
    passed() {
      if (!isOn) return;
      isOn = false;
      tell(over);
    },
  };
}
