import { Decimal } from 'decimal.js';

/** Decimal arithmetic for money: digits enough for the cost of one token beside the bill of a year. */
export const Money = Decimal.clone({ precision: 60 });
