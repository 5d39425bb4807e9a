/** Version 1 of the developer API agreement: what a company's owner accepts before the company gets a key pair. */
export const agreementOne = `# Developer API agreement, version 1

Between the operator of this Bridgework installation ("we") and the company that accepts it ("you").

## 1. What you may read
You may read the data of a dental practice through this API only where, and only for as long as, the practice has granted it to you, and
only the datasets that it has granted. A practice may end its grant at any time, and it ends at your next request.

## 2. What you may use it for
You may use the data only to provide to that practice the service that it has asked you for, as your agreement with the practice says.
You will not sell the data, use it for advertising, combine it across practices in a form that identifies a practice or a person, or
try to identify persons in data from which identities have been removed.

## 3. Health information
The data may contain protected health information under the Health Insurance Portability and Accountability Act (HIPAA). You will have a
business associate agreement in force with each practice whose data you read, or be its workforce or another party that the law allows.
You will ask for no more data than your service needs.

## 4. How you protect it
You will encrypt the data in transit and at rest, let only those people see it who need it for their work, keep records of who saw it,
and delete it when the practice asks, when its grant has ended and your duties to the practice allow it, or when this agreement ends.

## 5. Your credentials
Your client secret and access tokens stand for you: keep them out of source code, logs and messages, and give them to nobody. If you have
reason to think that someone else knows them, regenerate your key pair at once and tell us.

## 6. If something goes wrong
If data that you read here was or may have been lost, changed or seen by somebody who was not allowed to, you will tell us and the practice
without delay and within 72 hours of learning of it, say what you know, and help to find out the rest.

## 7. Records
We keep a record of every read: who, when, which practice and which records. Practices see the records of theirs.

## 8. Limits and changes
You will keep to the documented limits of the API and not try to get around them. We may change the API as its documentation says, pause
your access when it endangers practices, patients or the service, and publish a new version of this agreement. A new version binds you from
the moment when you accept it, and at the latest at the end of the period that we announce with it; without your acceptance your access
ends then.

## 9. Warranty and liability
The data is what the practice's own system holds, and we pass it on as we receive it; you will not rely on it alone where a mistake could
harm a person. The API is provided as it is. Nothing here limits a liability that the law does not allow to be limited.

## 10. End
Either side may end this agreement at any time in writing. Sections 3 to 7 hold for as long as you keep data that you read here.
`
