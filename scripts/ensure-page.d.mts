/** Builds the page where its sources have changed. False when it cannot be built; what went wrong is on stderr then. */
export function ensurePage(node: string): boolean;
