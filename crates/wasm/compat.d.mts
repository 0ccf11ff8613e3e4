/** The functions of ECMAScript with their exact results and errors; faster for long strings. */
export function encodeURIComponent(value: string | number | boolean): string;
export function encodeURI(value: string): string;
export function decodeURIComponent(value: string): string;
export function decodeURI(value: string): string;
