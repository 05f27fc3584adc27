var app = NoteApp()
app.run()
