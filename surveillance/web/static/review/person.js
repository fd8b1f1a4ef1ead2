// Who is at the keyboard: a name that the browser keeps.

const $ = (id) => document.getElementById(id);

export function askForPerson(api, name, say) {
  const dialog = $("who");
  $("person").append(name);
  $("person").addEventListener("click", () => {
    $("who-name").value = $("person").textContent;
    dialog.returnValue = "";
    dialog.showModal();
    $("who-name").select();
  });
  $("who-cancel").addEventListener("click", () => dialog.close("cancel"));
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "ok") return;
    try {
      $("person").textContent = await api.setPerson($("who-name").value);
    } catch (error) {
      say(`The name was not taken: ${error.message}.`);
    }
  });
}
