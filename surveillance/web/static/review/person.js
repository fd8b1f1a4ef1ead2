// Who is at the keyboard: whoever is logged in; on a server without accounts a name that the
// browser keeps.

const $ = (id) => document.getElementById(id);

// Gives back what asks for the name.
export function askForPerson(api, start, say) {
  const dialog = $("who");
  $("person").append(start.person);
  if (start.logged_in) {
    $("person").disabled = true;
    $("person").title = "You are logged in by this name; it is kept with each change";
    return () => {};
  }
  const ask = () => {
    $("who-name").value = $("person").textContent;
    dialog.returnValue = "";
    dialog.showModal();
    $("who-name").select();
  };
  $("person").addEventListener("click", ask);
  $("who-cancel").addEventListener("click", () => dialog.close("cancel"));
  // The dialog stays until the name is taken: what is labelled meanwhile would have the former one.
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      $("person").textContent = await api.setPerson($("who-name").value);
    } catch (error) {
      say(`The name was not taken: ${error.message}.`);
    }
    dialog.close("ok");
  });
  return ask;
}
