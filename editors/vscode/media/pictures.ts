/** Pictures that go to the model: made small enough, and drawn without an address to load them from. */

import { l10n } from "vscode";
import type { Picture } from "../src/views/messages";
import { el } from "./dom";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Pixels of the longer side, from which models make a picture smaller themselves. */
const SIDE = 1568;
/** Bytes that every provider takes. */
const MOST = 3_500_000;

/** Read a file as a picture; rejects where it is none. */
export async function picture(file: Blob): Promise<Picture> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && TYPES.includes(file.type) && file.size <= MOST) return encoded(file);
  const canvas = drawn(bitmap, scale);
  const exact = await blob(canvas, "image/png");
  return encoded(exact.size <= MOST ? exact : await blob(canvas, "image/jpeg"));
}

/** Draw a picture at most this high. */
export function thumbnail({ mimeType, data }: Picture, height: number): HTMLCanvasElement {
  const canvas = el("canvas", { role: "img", "aria-label": l10n.t("Picture") });
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type: mimeType })).then(
    (bitmap) => {
      const small = drawn(bitmap, Math.min(1, height / bitmap.height));
      [canvas.width, canvas.height] = [small.width, small.height];
      canvas.getContext("2d")?.drawImage(small, 0, 0);
    },
    () => canvas.replaceWith(`[${l10n.t("picture")}]`),
  );
  return canvas;
}

function drawn(bitmap: ImageBitmap, scale: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function blob(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  return new Promise((done, failed) => canvas.toBlob((made) => (made ? done(made) : failed(new Error("no picture"))), type, 0.85));
}

function encoded(file: Blob): Promise<Picture> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onerror = failed;
    reader.onload = () => done({ mimeType: file.type, data: String(reader.result).replace(/^[^,]*,/, "") });
    reader.readAsDataURL(file);
  });
}
