// Plays the steps of a scenario one after the other, says how each went, and ends the process.

/** `steps`: functions by what they show. The first that fails ends it, with a picture. */
export async function play(desk, steps) {
  let failed = false;
  for (const [name, step] of Object.entries(steps)) {
    const start = Date.now();
    try {
      // Toasts of earlier steps would be taken for this one's.
      await desk.run("Clear All Notifications", "Notifications");
      await step();
      console.log(`ok ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      console.log(`FAILED ${name}: ${error.stack}`);
      await desk.picture("failed");
      failed = true;
      break;
    }
  }
  await desk.close();
  process.exit(failed ? 1 : 0);
}
