/** Figures as people read them. */
export function tokens(count: number): string {
  return count.toLocaleString();
}

/** `12.3k`, for an axis. */
export function shortCount(count: number): string {
  return new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

/** Dollars of decimal text: cents where there are any, else as many digits as say something. */
export function money(amount: string | number | undefined): string {
  if (amount === undefined) return 'unknown';
  const value = Number(amount);
  if (value === 0) return '$0';
  if (value >= 1) return `$${value.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  if (value >= 0.01)
    return `$${value.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
  return `$${value.toLocaleString(undefined, { maximumSignificantDigits: 3, maximumFractionDigits: 8 })}`;
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  return `${share > 0 && share < 1 ? '<1' : Math.round(share)} %`;
}
